"""Two processes with four threads each refresh from a server with faults."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List

from backend import Backend

import satchel

#: Refreshes with threads, and checks after each call that nothing is gone that was there.
WORKER = """
import json, random, sys, threading
import satchel

path, url, force, seed = sys.argv[1], sys.argv[2], sys.argv[3] == "force", int(sys.argv[4])
places = [{"country_code": code} for code in ("CN", "FR", "BR")]
store = satchel.open(path, clock=lambda: 1_704_067_200_000)
source = satchel.HTTPSource(url + "/content", stall_timeout=5)
requests, lost, errors = [0], [], []

def work(number):
    dice, known = random.Random(seed * 100 + number), set()
    for _ in range(20):
        place = dice.choice(places)
        names = dice.choice([None, ["cuisine"], ["sights"], ["cuisine", "sights"]])
        forced = force and dice.random() < 0.7
        report = store.catalogue.refresh(place, names, source=source, force=forced)
        requests[0] += report.requests
        for each in report.refreshed + report.unchanged:
            known.add((place["country_code"], each))
        for code, name in known:
            if store.catalogue.load({"country_code": code}, name, allow_expired=True) is None:
                lost.append((code, name))

def guarded(number):
    try:
        work(number)
    except BaseException as error:
        errors.append(repr(error))

threads = [threading.Thread(target=guarded, args=(number,)) for number in range(4)]
for each in threads:
    each.start()
for each in threads:
    each.join()
store.close()
print(json.dumps({"requests": requests[0], "lost": lost, "errors": errors}))
"""


def run(path: Path, backend: Backend, mode: str) -> int:
    """Runs both processes; returns the number of requests that they say they have sent."""
    satchel.open(path).close()
    command = [sys.executable, "-c", WORKER, str(path), backend.url, mode]
    children = [subprocess.Popen([*command, str(seed)], stdout=subprocess.PIPE, text=True) for seed in (1, 2)]
    results: List[Dict[str, Any]] = [json.loads(each.communicate(timeout=300)[0]) for each in children]
    assert [each["errors"] + each["lost"] for each in results] == [[], []]
    with satchel.open(path) as store:
        assert store.check() == []
    return sum(each["requests"] for each in results)


def test_faults_take_nothing_away_and_nothing_is_asked_twice_at_once(tmp_path: Path) -> None:
    backend = Backend()
    kinds: List[Dict[str, Any]] = [
        {"fault": "status", "code": 500},
        {"fault": "slow", "seconds": 0.02},
        {"fault": "body", "body": '{"section": 7}', "type": "application/json"},
        {"fault": "body", "body": '{"section": "cuisine", "conten', "type": "application/json"},
        {"fault": "cut", "bytes": 20},
        {"fault": "redirect", "code": 302, "to": "{other}/content"},
        {"fault": "status", "code": 404},
        {"fault": "cut", "bytes": 0, "reset": True},
        {"fault": "slow", "seconds": 0.05},
    ]
    backend.expect(*kinds * 6)
    sent = run(tmp_path / "app.satchel", backend, "force")
    counts = backend.counts
    assert counts["most_alike"] == 1
    assert sent == counts["requests"] > len(kinds) * 6


def test_an_hour_offline_costs_one_request_for_each_place_and_section(tmp_path: Path) -> None:
    backend = Backend()
    backend.change(offline=True, reset=True)
    sent = run(tmp_path / "app.satchel", backend, "calm")
    # Three places, each as a whole and with two sections; no time passes, so nothing is due again.
    assert 0 < sent <= 9
