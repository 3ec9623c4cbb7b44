"""Uses an installed Satchel as an app does, in each of its packages: use.py [VERSION]

Fails when the library or the package is not of that version.
"""

import sys
import tempfile
from pathlib import Path

import satchel

LOCATION = {"latitude": 31.2304, "longitude": 121.4737, "locality": "Shanghai", "country_code": "CN"}
DISH = {"qid": "Q1", "price": 0.1, "count": 9007199254740993, "name": "小籠包"}
STORAGE = {"entity_id": "cuisine:xiaolongbao", "scope": "locality", "ttl_hours": 24}
SECTION = {
    "section": "cuisine",
    "display_title": "What to eat",
    "content": {"title": "Eat", "items": [{**DISH, "_storage": STORAGE}, {"note": "inline"}]},
}


def use(folder: Path) -> str:
    """Persists, lists and loads a section, keeps records and state, synchronizes; gives SQLite's version."""
    path = folder / "guide.satchel"
    with satchel.open(path) as store:
        receipt = store.catalogue.persist(LOCATION, SECTION)
        assert (receipt.saved, receipt.problems) == (1, []), receipt
        store.records("courses", indexes=["credits"]).put("algebra", {"title": "Algebra", "credits": 6})
        store.state.set("theme", "dark")
        report = store.sync(satchel.remote.Directory(folder / "remote"), "mia")
        assert not report.failed, report

    with satchel.open(path) as store:
        (header,) = store.catalogue.sections(LOCATION)
        assert (header.section, header.display_title) == ("cuisine", "What to eat"), header
        assert header.entity_count == 1, header
        loaded = store.catalogue.load(LOCATION, "cuisine")
        assert loaded is not None
        assert loaded.content == {"title": "Eat", "items": [DISH, {"note": "inline"}]}, loaded
        [course] = store.records("courses", indexes=["credits"]).list(where={"credits": {"gte": 5}})
        assert course["title"] == "Algebra", course
        assert store.state.get("theme") == "dark"
        assert satchel.places.normalize("São Paulo") == "sao_paulo"
        assert store.check() == []
        return store.info().sqlite_version


def main(version: str = satchel.__version__) -> None:
    """Uses the library, and says which versions run."""
    assert satchel.__version__ == satchel.library_version() == version, satchel.library_version()
    with tempfile.TemporaryDirectory() as folder:
        sqlite = use(Path(folder))
    print(f"satchel {version} on SQLite {sqlite}, {satchel._library.library._name}")


if __name__ == "__main__":
    main(*sys.argv[1:])
