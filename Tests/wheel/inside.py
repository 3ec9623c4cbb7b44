"""Runs inside the bare root of run.sh: first proves that it is bare, then uses the wheel."""

import ctypes
import os
import sys

FORBIDDEN = ("libjansson.so.4", "libsqlite3.so.0", "libutf8proc.so.2", "libnettle.so.8", "libsatchel.so.0")

for name in FORBIDDEN:
    try:
        ctypes.CDLL(name)
    except OSError:
        continue
    sys.exit(f"the root is not bare: {name} can be loaded")

for folder, _, files in os.walk("/"):
    for name in files:
        if "satchel" not in folder and any(name.startswith(each.split(".")[0]) for each in FORBIDDEN):
            sys.exit(f"the root is not bare: {folder}/{name}")

import satchel  # noqa: E402  (only now that the root is proven to be bare)

location = {"latitude": 31.2304, "longitude": 121.4737, "locality": "Shanghai", "country_code": "CN"}
dish = {"qid": "Q1", "price": 0.1, "count": 9007199254740993, "name": "小籠包"}
storage = {"entity_id": "cuisine:xiaolongbao", "scope": "locality", "ttl_hours": 24}
section = {
    "section": "cuisine",
    "display_title": "What to eat",
    "content": {"title": "Eat", "items": [{**dish, "_storage": storage}, {"note": "inline"}]},
}

with satchel.open("/tmp/guide.satchel") as store:
    receipt = store.catalogue.persist(location, section)
    assert (receipt.saved, receipt.problems) == (1, []), receipt

with satchel.open("/tmp/guide.satchel") as store:
    (header,) = store.catalogue.sections(location)
    assert (header.section, header.display_title) == ("cuisine", "What to eat"), header
    assert header.entity_count == 1, header
    loaded = store.catalogue.load(location, "cuisine")
    assert loaded is not None
    assert loaded.content == {"title": "Eat", "items": [dish, {"note": "inline"}]}, loaded
    assert satchel.places.normalize("São Paulo") == "sao_paulo"
    assert store.check() == []

print(f"wheel test: satchel {satchel.__version__} works without {', '.join(FORBIDDEN[:4])}")
