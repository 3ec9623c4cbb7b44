"""A download of an offline region that is killed fifty times."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import satchel

PLACES, ENTITIES, PICTURES = 20, 100, 30

CHILD = """
import os, sys, threading, satchel

PLACES, ENTITIES, PICTURES = map(int, sys.argv[2:])

def say(asked):
    # One call of the system: what was said is in the pipe, whenever the process is killed.
    os.write(1, f"{threading.get_ident()} {asked}\\n".encode())

class Backend:
    def content(self, request):
        number = request.location["locality"]
        say(number)
        items = []
        for entity in range(ENTITIES):
            item = {"name": f"{number} {entity}",
                    "_storage": {"entity_id": f"food:{number}_{entity}", "scope": "locality"}}
            if entity < PICTURES:
                item["image"] = {"_asset": {"url": f"https://pictures.test/{number}/{entity}"}}
            items.append(item)
        return {"section": "food", "content": {"items": items}}

    def asset(self, request):
        say(request.url)
        return request.url.encode() * 40

with satchel.open(sys.argv[1]) as store:
    places = [{"country_code": "cn", "locality": str(number)} for number in range(PLACES)]
    report = store.catalogue.regions.create("city", places).download(Backend())
    assert report.state == "complete", report
    os.write(1, b"done\\n")
"""


def test_nothing_is_fetched_twice_but_what_was_in_flight(tmp_path: Path) -> None:
    dice = random.Random(7)
    path = tmp_path / "store.satchel"
    words = [sys.executable, "-c", CHILD, str(path), *map(str, (PLACES, ENTITIES, PICTURES))]
    finished: Counter[str] = Counter()
    kills, is_done = 0, False
    while not is_done:
        assert kills < 300
        # More requests than there are left: it is not killed any more.
        limit = dice.randrange(1, 18) if kills < 50 else 10_000
        with subprocess.Popen(words, stdout=subprocess.PIPE, env={**os.environ}) as child:
            assert child.stdout is not None
            lines = []
            while len(lines) < limit:
                line = child.stdout.readline()
                if not line:
                    break
                lines.append(line)
            if len(lines) == limit:
                child.send_signal(signal.SIGKILL)
                kills += 1
            lines += child.stdout.readlines()
        # A request is done when its thread has made the next one; the last of each may have been in flight.
        last = {}
        for line in lines:
            if line == b"done\n":
                is_done = True
                continue
            thread, asked = line.decode().split()
            assert not finished[asked], f"{asked} was fetched twice"
            if thread in last:
                finished[last[thread]] += 1
            last[thread] = asked
    assert kills >= 50
    with satchel.open(path) as store:
        summary = store.catalogue.regions.get("city").summary()
        assert (summary.state, summary.size.entities) == ("complete", PLACES * ENTITIES)
        assert summary.size.assets == PLACES * PICTURES
        assert store.check() == []
