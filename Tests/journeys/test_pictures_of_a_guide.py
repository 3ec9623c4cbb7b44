"""A travel guide with its pictures.

The guide's backend names pictures by URL, the reader takes photographs of her own and writes about them. The
phone has a backup in the evening, loses the network, runs out of budget, breaks, is restored on another one,
and is handed on at last: no picture that anything refers to is lost, and nothing of the reader's stays.
"""

import hashlib
import os
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import satchel
from journey import DAY, HOUR, PORTO, Clock, Process, files_with

#: Puts pictures, each with the note that refers to it, until it is killed.
WRITER = """
import sys, satchel
with satchel.open(sys.argv[1]) as store:
    notes = store.records("notes")
    number = 0
    while True:
        number += 1
        picture = store.assets.put(f"picture {number} ".encode() * 9000, type="image/jpeg")
        notes.put(f"killed {number}", {"picture": picture})
        print(number, flush=True)
"""


def _picture(name: str, size: int = 200_000) -> bytes:
    seed = hashlib.sha256(name.encode()).digest()
    return (name.encode() + seed * (size // len(seed) + 1))[:size]


@pytest.fixture
def backend():
    """An HTTP server with the pictures of the guide, which counts what it is asked."""

    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            body = _picture(self.path)
            self.send_response(200)
            self.send_header("ETag", f'"{hashlib.md5(body).hexdigest()}"')
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    thread.join()
    server.server_close()


def _fetch(request: satchel.assets.AssetRequest) -> satchel.assets.Fetched:
    from urllib.request import urlopen

    with urlopen(request.url) as response:
        return satchel.assets.Fetched(response.read(), etag=response.headers["ETag"])


def _folder(store: satchel.Store) -> Path:
    return Path(f"{store.path}.assets")


def _files(store: satchel.Store) -> list[Path]:
    return [path for path in _folder(store).rglob("*") if len(path.name) == 64]


def test_no_picture_is_lost(tmp_path: Path, backend: tuple[str, list[str]]) -> None:
    url, asked = backend
    clock = Clock()
    phone = satchel.open(tmp_path / "phone.satchel", clock=clock)
    places = ["harbour", "bridge", "tower"]
    phone.catalogue.persist(
        PORTO,
        {
            "section": "sights",
            "content": {
                "cards": [
                    {
                        "_storage": {"entity_id": f"sight:{name}", "scope": "locality", "ttl_hours": 500},
                        "title": name,
                        "picture": {"_asset": {"url": f"{url}/{name}.jpg", "type": "image/jpeg"}},
                    }
                    for name in places
                ]
            },
        },
    )
    cards = phone.catalogue.load(PORTO, "sights").content["cards"]
    report = phone.assets.fetch([card["picture"] for card in cards], fetch=_fetch)
    assert (report.fetched, len(asked)) == (3, 3)

    # Her own photographs, of which one is in two notes.
    notes = phone.records("notes", indexes=["title"])
    for name in ["breakfast", "tram"]:
        notes.put(name, {"title": name, "picture": phone.assets.put(_picture(name), type="image/jpeg")})
    notes.put("tram again", {"title": "once more", "picture": notes.get("tram")["picture"]})
    small = phone.assets.put(b"a sketch", type="image/png")
    notes.put("sketch", {"title": "a sketch", "picture": small})
    assert len(_files(phone)) == 5

    # An app that is killed while it puts pictures loses none that it has acknowledged.
    writer = Process(WRITER, phone.path)
    for _ in range(5):
        last = int(writer.line())
    writer.kill()
    for number in range(1, last + 1):
        picture = phone.assets.get(notes.get(f"killed {number}")["picture"])
        assert picture.bytes() == f"picture {number} ".encode() * 9000
    phone.assets.verify()
    assert phone.check() == []
    notes.delete_many([record.id for record in notes.list() if record.id.startswith("killed")])

    # The budget of the evening takes what the backend has, and leaves what only she has.
    clock.wait(2 * HOUR)
    pruned = phone.assets.prune(max_bytes=0)
    assert pruned.only_copies == 2 * 200_000 + len(b"a sketch")
    assert [phone.assets.get(card["picture"]).state for card in cards] == ["remote"] * 3
    phone.assets.fetch([card["picture"] for card in cards], fetch=_fetch)
    assert len(_files(phone)) == 5

    # A backup takes no space twice where the file system has links, and a second one follows the changes.
    backups = tmp_path / "backups"
    backups.mkdir()
    first = phone.backup(backups / "evening.satchel")
    assert (first.assets, first.missing_assets) == (5, 0)
    notes.delete("breakfast")
    clock.wait(DAY)
    phone.assets.prune()
    assert len(_files(phone)) == 4

    # The phone breaks: store and folder are gone. Another one gets the backup.
    phone.close()
    other = tmp_path / "other.satchel"
    satchel.restore(backups / "evening.satchel", other)
    for path in tmp_path.glob("phone.satchel*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    phone = satchel.open(other, clock=clock)
    notes = phone.records("notes")
    for name in ["breakfast", "tram"]:
        assert phone.assets.get(notes.get(name)["picture"]).bytes() == _picture(name)
    assert phone.assets.get(notes.get("sketch")["picture"]).bytes() == b"a sketch"
    for card, name in zip(cards, places, strict=True):
        assert phone.assets.get(card["picture"]).bytes() == _picture(f"/{name}.jpg")
    assert phone.check() == []

    # The file of the store is damaged; what can be read is recovered with its pictures.
    phone.close()
    with open(other, "r+b") as file:
        file.seek(0)
        file.write(os.urandom(90))
    recovered = tmp_path / "recovered.satchel"
    satchel.recover(other, recovered)
    phone = satchel.open(recovered, clock=clock)
    picture = phone.assets.get(phone.records("notes").get("tram")["picture"])
    assert (picture.bytes(), phone.assets.info(picture).references) == (_picture("tram"), 2)
    assert phone.check() == []

    # At last it is handed on: the guide stays with its pictures, and nothing of hers.
    phone.sign_out(unsent="discard")
    assert sorted(path.stat().st_size for path in _files(phone)) == [200_000] * 3
    assert files_with("tram", _folder(phone)) == []
    # Recovering ran by the clock of this machine, where it is not yet January.
    assert phone.catalogue.load(PORTO, "sights", allow_expired=True).content["cards"] == cards
    assert phone.assets.verify().lost == []
    phone.close()
