"""Random documents for the fuzzer of the C interface: most are valid for the call that takes them.

Ids, names and places come from small sets, so that calls meet the records, photos and sections of others.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STORIES = [path.read_bytes() for path in sorted((ROOT / "Examples/Stories").glob("*.json"))]
TWEE = b"""\
:: StoryTitle
The Well

:: StoryData
{"ifid": "9F187C0A-AE64-465A-8B13-B30BCE7FE8D1", "start": "Begin"}

:: Begin
A well. [[Look in->Water]] or [[leave|End]].

:: Water [deep]
Cold water. [[End]]

:: End
Home.
"""
MD5S = [hashlib.md5(bytes([number])).hexdigest() for number in range(6)]
COLLECTIONS = ["courses", "lessons", "notes"]
SECTIONS = ["facts", "places", "cuisine"]
SCOPES = ["coordinate", "sublocality", "locality", "adminarea", "country", "global"]
PLACES = [
    {"country_code": "fr", "admin_area": "Paris", "locality": "Paris", "latitude": 48.85, "longitude": 2.35},
    {"country_code": "fr", "admin_area": "Rhône", "locality": "Lyon"},
    {"country_code": "cn", "admin_area": "Shanghai", "locality": "Shanghai", "sublocality": "Pudong"},
    {"country_code": "MT", "country_name": "Malta"},
]
NUMBERS = [0, -1, 2**63 - 1, -(2**63), 0.1, 1e308]
VALUES = [None, True, False, *NUMBERS, "", "é", "a" * 300, [], {}, {"a": [1, {"b": 2}]}]

Dice = random.Random


def identifier(dice: Dice) -> str:
    return f"r{dice.randrange(8)}"


def value(dice: Dice) -> object:
    return dice.choice([*VALUES, dice.random(), dice.randrange(100), {identifier(dice): dice.choice(VALUES)}])


def tree(dice: Dice) -> object:
    """A value to edit, with the keys that edits and paths name."""
    return {"a": {"b": value(dice), "c": [value(dice), {"id": identifier(dice)}]}, "d": value(dice)}


def edit(dice: Dice) -> object:
    config = {"operation": dice.choice(["merge", "append", "remove", "merge_patch", "patch", "other"])}
    if dice.random() < 0.6:
        config["target_path"] = path(dice)
    if dice.random() < 0.5:
        config["match"] = {"id": identifier(dice)}
    return config


def patch(dice: Dice) -> object:
    paths = ["/a", "/a/b", "/a/c/0", "/a/c/-", "/a/c/1/id", "/d", ""]
    operations = ["add", "remove", "replace", "move", "copy", "test"]
    steps = [{"op": dice.choice(operations), "path": dice.choice(paths)} for _ in range(dice.randrange(4))]
    return [step | {"from": dice.choice(paths), "value": value(dice)} for step in steps]


def path(dice: Dice) -> str:
    return dice.choice(["", "a", "a.b", "a.c", "/a/c/1", "/a/c/-", "d", "d.e", "/x", "title", "level"])


def location(dice: Dice) -> object:
    return dice.choice(PLACES)


def region(dice: Dice) -> object:
    """The definition of an offline region, or a wrong one."""
    areas: list[object] = []
    for _ in range(dice.randrange(4)):
        area: dict[str, object] = {"location": location(dice)}
        if dice.random() < 0.3:
            area["within"] = dice.choice([0, 1000.5, 1e9, -1, "far"])
        if dice.random() < 0.3:
            area["level"] = dice.choice(SCOPES)
        areas.append(dice.choice([area, location(dice)]))
    return {
        "locations": areas,
        "sections": dice.choice([None, None, SECTIONS[:1], SECTIONS, [], [7]]),
        "assets": dice.choice([True, False, None, 1]),
        "max_bytes": dice.choice([None, None, 0, 10**6, -1]),
        "max_asset_bytes": dice.choice([None, 1, 10**6, 0, 2**62]),
    }


def content(dice: Dice, depth: int = 0) -> object:
    """A section's content: entities inside of entities."""
    node: dict[str, object] = {"title": dice.choice("uvw"), "value": value(dice)}
    if dice.random() < 0.7:
        node["_storage"] = {
            "entity_id": f"{dice.choice(SECTIONS)}:{dice.randrange(6)}",
            "scope": dice.choice(SCOPES),
            "ttl_hours": dice.choice([168, 1, 0, -1, 0.5, 10**9]),
        }
    if depth < 3:
        node["items"] = [content(dice, depth + 1) for _ in range(dice.randrange(3))]
    return node


def section(dice: Dice) -> object:
    whole = {"section": dice.choice(SECTIONS), "display_title": "Title", "content": content(dice)}
    if dice.random() < 0.25:
        whole |= {"action": "edit", "config": edit(dice)}
    return whole


def delivery(dice: Dice) -> object:
    return {"location": location(dice), "sections": [section(dice) for _ in range(dice.randrange(1, 4))]}


def state_declaration(dice: Dice) -> object:
    """Defaults and versions of state."""
    whole: dict[str, object] = {"defaults": {"theme": dice.choice(["light", "light", "dark"])}}
    if dice.random() < 0.5:
        step = dice.choice([[{"rename": {"from": "/theme", "to": "/colours"}}], "callback", []])
        whole |= {"version": dice.choice([1, 2, 2, 3, 2**31 - 1]), "migrations": [step]}
    return whole


def asset(dice: Dice) -> object:
    """A reference to an asset: by its SHA-256, by its URL, or wrong."""
    content = dice.choice([b"", b"r", b"a" * 30000, "São Paulo".encode()])
    members: dict[str, object] = {"sha256": hashlib.sha256(content).hexdigest()}
    if dice.random() < 0.3:
        members = {"url": dice.choice(["http://localhost/a", "http://localhost/b", "file:///etc/passwd"])}
    if dice.random() < 0.2:
        members["size"] = dice.choice([len(content), len(content), 7, -1, "1"])
    chance = dice.random()
    if chance < 0.1:
        return next(iter(members.values()))
    return members if chance < 0.2 else {"_asset": members}


def bounds(dice: Dice) -> object:
    """Bounds of a list, or of scores."""
    if dice.random() < 0.5:
        return {"limit": dice.randrange(1, 5), "max_age": 60000, "unique": dice.random() < 0.5}
    return {"minimum": -1, "maximum": dice.choice([0, 1, 1.5])}


def photo(dice: Dice) -> object:
    row: dict[str, object] = {
        "md5": dice.choice(MD5S),
        "filename": f'a/{dice.randrange(9)}, "é".jpg',
        "size": dice.randrange(10**6),
        "photodate": dice.randrange(2 * 10**9),
        "modified": dice.randrange(2 * 10**9),
        "width": dice.choice([None, 640]),
        "height": None,
        "apple_photo_id": dice.choice([None, "A-1"]),
    }
    return row | (local(dice) if dice.random() < 0.3 else {})


def local(dice: Dice) -> dict[str, object]:
    columns = {
        "starred": dice.random() < 0.5,
        "local_only": dice.random() < 0.7,
        "camera_make": dice.choice([None, "Zeiß"]),
        "orientation": dice.randrange(10),
        "latitude": dice.uniform(-95, 95),
        "iso": dice.choice([100, None, -1]),
    }
    return {key: columns[key] for key in columns if dice.random() < 0.5}


def photos(dice: Dice) -> object:
    return [photo(dice) for _ in range(dice.randrange(6))] if dice.random() < 0.8 else photo(dice)


def photo_place(dice: Dice) -> object:
    if dice.random() < 0.5:
        return {
            "latitude": dice.uniform(-95, 95),
            "longitude": 13.4,
            "metres": dice.choice([0, 1e6, 1e9, -1]),
        }
    return {"south": dice.uniform(-95, 95), "west": 170, "north": 90, "east": dice.choice([-170, 171, 200])}


def photo_query(dice: Dice) -> object:
    query = {
        "from": dice.randrange(10**9),
        "to": 2 * 10**9,
        "clock": dice.choice(["utc", "local", "Europe/Berlin", "Nowhere/Land"]),
        "camera": dice.choice(["Zeiß", ""]),
        "folder": dice.choice(["more", ".."]),
        "present": dice.random() < 0.5,
        "place": photo_place(dice),
        "filename": dice.choice(["*", "a/?,*", "[", "é"]),
        "starred": True,
        "backup_status": dice.choice(["queued", "uploading", "not_backed_up", "none"]),
        "shard": dice.randrange(-1, 17),
        "order": dice.choice(["md5", "photodate", "filename"]),
        "descending": True,
        "limit": dice.choice([1, 3, 100000]),
    }
    return {key: query[key] for key in query if dice.random() < 0.25}


def story_query(dice: Dice) -> object:
    query = {
        "search": dice.choice(["the", "thor br", "é", ""]),
        "tags": ["myth"],
        "age": dice.randrange(20),
        "purchased": True,
        "sort": dice.choice(["title", "reading_time", "path_count"]),
        "descending": True,
        "limit": dice.randrange(3),
        "offset": dice.randrange(3),
    }
    return {key: query[key] for key in query if dice.random() < 0.3}


def s3(dice: Dice) -> object:
    """A bucket without a server: nothing listens on that port of loopback."""
    return {
        "bucket": "satchel",
        "endpoint": "http://127.0.0.1:9",
        "region": "eu",
        "access_key": "key",
        "secret_key": "secret",
        "prefix": dice.choice(["", "p/"]),
        "timeouts": {"connect": 50, "stall": 100, "total": 200},
    }


def encoded(document: object) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()


def choosing(*texts: str) -> Callable[[Dice], bytes]:
    """One of a few plain texts."""
    return lambda dice: dice.choice(texts).encode()


def mutated(dice: Dice, data: bytes) -> bytes:
    """The bytes with something wrong, or something else."""
    changed = bytearray(data)
    kind = dice.randrange(9)
    if kind == 0:
        return data[: dice.randrange(len(data) + 1)]
    if kind == 1:
        return b"[" * dice.choice([10, 511, 512, 513, 100000])
    if kind == 2:
        depth = dice.choice([400, 511, 512, 513])
        return b'{"a":' * depth + (data or b"1") + b"}" * depth
    if kind == 3:
        numbers = [b"9223372036854775808", b"-1e400", b"1e309", b"0.1e-400", b"9" * 400]
        return data.replace(b"1", dice.choice(numbers), 1)
    if kind == 4:
        strange = [b"", b"\0", b"\xff", b"\xed\xa0\x80", b"\\u0000", b"\\ud800", b"\xef\xbb\xbf", b"/../"]
        place = dice.randrange(len(data) + 1)
        return data[:place] + dice.choice(strange) + data[place:]
    if kind == 5:
        return encoded(dice.choice(VALUES))
    if kind == 6:
        start = dice.randrange(len(data) + 1)
        return data[:start] + data[start : start + dice.randrange(1, 40)] + data[start:]
    for _ in range(dice.randrange(1, 5)):
        if changed:
            changed[dice.randrange(len(changed))] = dice.randrange(256)
    return bytes(changed)
