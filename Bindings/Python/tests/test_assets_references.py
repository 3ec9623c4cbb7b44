"""References to assets: in documents, as values, and in dataclasses; what is refused."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional

import pytest
from asset_files import NOBODYS, files, some
from helpers import HOUR, SHANGHAI, Clock, section, storage

import satchel
from satchel import Asset, ConstraintViolation, InvalidArgument, NotFound
from satchel.assets import Assets


def test_documents_refer_to_assets(
    assets: Assets, notes: satchel.Records[Any], clock: Clock, path: Path
) -> None:
    picture, sound = assets.put(some(100_000), type="image/jpeg"), assets.put(b"a sound")
    notes.put("n1", {"title": "Pad Thai", "picture": picture, "sounds": [sound, {"again": sound}]})
    document = notes.get("n1")
    assert document["picture"] == {
        "_asset": {"sha256": picture.sha256, "size": 100_000, "type": "image/jpeg"}
    }
    found = assets.get(document["picture"])
    assert found == picture
    assert found.bytes() == some(100_000)
    assert [assets.info(each).references for each in (picture, sound)] == [1, 1]

    notes.put("n2", {"picture": document["picture"], "caption": "kept as it is"})
    assert assets.info(picture).references == 2
    clock.advance(2 * HOUR)
    report = assets.prune(max_bytes=0)
    assert (report.removed, report.only_copies, report.over_budget) == (0, 100_007, 100_007)

    notes.put("n2", {"picture": None})
    notes.update("n1", {"sounds": []})
    assert [assets.info(each).references for each in (picture, sound)] == [1, 0]
    # The hour begins with the drop.
    assert assets.prune().recent == 7
    clock.advance(HOUR + 1)
    report = assets.prune()
    assert (report.removed, report.removed_bytes, report.bytes) == (1, 7, 100_000)
    assert (sound.state, picture.state) == ("missing", "here")
    notes.delete("n1")
    clock.advance(HOUR + 1)
    assert (assets.prune().removed, files(path), assets.list()) == (1, [], [])


def test_state_and_the_catalogue_refer_to_assets(store: satchel.Store, assets: Assets) -> None:
    picture = assets.put(some(10))
    store.state.set("avatar", picture)
    store.state.flush()
    assert assets.get(store.state.get("avatar")).bytes() == some(10)
    assert assets.info(picture).references == 1
    content = {"dish": {"picture": picture, **storage("dishes:1", "locality")}}
    store.catalogue.persist(SHANGHAI, section(content, "dishes"))
    assert assets.info(picture).references == 2
    loaded = store.catalogue.load(SHANGHAI, "dishes")
    assert loaded is not None
    assert assets.get(loaded.content["dish"]["picture"]) == picture
    assert satchel.json.merge({"a": 1}, {"b": picture}) == {"a": 1, "b": picture.json}


def test_a_reference_to_nothing_is_refused(assets: Assets, notes: satchel.Records[Any]) -> None:
    known = assets.put(b"12345")
    cases: List[Any] = [
        (Asset(NOBODYS), "/a/0/_asset/sha256"),
        (Asset(str(known.sha256), size=6), "/a/0/_asset/size"),
        ({"_asset": {"sha256": "abc"}}, "/a/0/_asset/sha256"),
        ({"_asset": {"url": "ftp://a/b"}}, "/a/0/_asset/url"),
        ({"_asset": {}}, "/a/0/_asset"),
        ({"_asset": None}, "/a/0/_asset"),
    ]
    for value, pointer in cases:
        with pytest.raises(ConstraintViolation) as caught:
            notes.put("n1", {"a": [value]})
        assert (caught.value.pointer, caught.value.id) == (pointer, "n1")
    assert notes.count() == 0
    # A URL may be fetched later.
    notes.put("n1", {"a": Asset(url="https://example.org/a.jpg")})
    info = assets.info(notes.get("n1")["a"])
    assert (info.state, info.sha256, info.references) == ("remote", None, 1)


def test_a_record_of_a_store_without_assets_cannot_refer_to_nothing(
    store: satchel.Store, notes: satchel.Records[Any]
) -> None:
    notes.put("n1", {"title": "Soup"})
    with pytest.raises(ConstraintViolation) as caught:
        notes.put("n1", {"picture": Asset(NOBODYS)})
    assert caught.value.pointer == "/picture/_asset/sha256"
    assert store.flush()


def test_the_references_of_a_document(notes: satchel.Records[Any]) -> None:
    references = [Asset(url=f"https://example.org/{number}") for number in range(10_001)]
    notes.put("n1", {"all": references[:-1]})
    with pytest.raises(ConstraintViolation, match="10000"):
        notes.put("n1", {"all": references})


def test_a_batch_puts_an_asset_and_its_document(
    store: satchel.Store, assets: Assets, notes: satchel.Records[Any]
) -> None:
    with store.batch():
        notes.put("n1", {"picture": assets.put(some(100_000))})
    put: List[Asset] = []

    def fail() -> None:
        with store.batch():
            put.append(assets.put(some(100_000, 1)))
            notes.put("n2", {"picture": put[0]})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert put[0].state == "missing"
    assert assets.verify().orphans == 1
    with pytest.raises(InvalidArgument, match="transaction"), store.batch():
        assets.prune()


# Asset as a value.


def test_assets_are_values(assets: Assets) -> None:
    asset = assets.put(b"x", type="text/plain")
    same = Asset(asset.sha256, 1, "text/plain")
    assert asset == same
    assert len({asset, same, assets.get(asset.json), assets.get(asset.json["_asset"])}) == 1
    assert asset != Asset(asset.sha256)
    assert asset != asset.json
    assert pickle.loads(pickle.dumps(asset)) == copy.deepcopy(asset) == same
    assert repr(same) == f"Asset(sha256={asset.sha256!r}, size=1, type='text/plain')"
    assert assets.get(str(asset.sha256)).bytes() == b"x"
    assert assets.get("https://example.org/a").url == "https://example.org/a"
    with pytest.raises(InvalidArgument, match=r"store\.assets\.get"):
        same.bytes()


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (None, "NoneType"),
        (7, "int"),
        ([], "list"),
        ({}, "sha256 or url"),
        ({"_asset": []}, "_asset"),
        ({"_asset": {"sha256": "A" * 64}}, "/_asset/sha256"),
        ({"sha256": NOBODYS, "size": "1"}, "/size"),
        ({"sha256": NOBODYS, "size": True}, "/size"),
        ({"url": b"http://a/b"}, "/url"),
    ],
)
def test_what_is_no_reference_is_refused(assets: Assets, value: Any, named: str) -> None:
    for call in (assets.get, assets.info, assets.read, assets.open):
        with pytest.raises(InvalidArgument, match=named):
            call(value)
    with pytest.raises(InvalidArgument, match=named):
        assets.variant(value, "a", lambda _: b"")


@pytest.mark.parametrize(
    "url", ["", "../../etc/passwd", "file:///etc/passwd", "http:///x", "http://a b", "x" * 3000]
)
def test_what_is_no_url_is_refused(assets: Assets, url: str) -> None:
    with pytest.raises(InvalidArgument, match="asset"):
        assets.info(url)


def test_garbage_in_arguments(assets: Assets, path: Path, tmp_path: Path) -> None:
    asset = assets.put(b"x")
    garbage: Any
    for garbage in (None, 7, 1.5, [b"x"], {"a": 1}, object()):
        with pytest.raises(InvalidArgument, match="content"):
            assets.put(garbage)
    for garbage in (7, b"image/png", "", "a\nb", "t" * 256, "\ud800"):
        with pytest.raises(InvalidArgument, match="type"):
            assets.put(b"y", type=garbage)
    for garbage in (-1, 1.5, "1", 2**63, True):
        with pytest.raises(InvalidArgument, match="offset"):
            asset.read(garbage)
        with pytest.raises(InvalidArgument, match="count"):
            asset.read(0, garbage)
        with pytest.raises(InvalidArgument, match="max_bytes"):
            assets.prune(garbage)
    for garbage in ("nowhere", 1, b"here"):
        with pytest.raises(InvalidArgument, match="state"):
            assets.list(garbage)
    for garbage in ("", "n" * 129, 7, None):
        with pytest.raises(InvalidArgument, match="name"):
            assets.variant(asset, garbage, lambda _: b"")
    with pytest.raises(InvalidArgument, match="make"):
        assets.variant(asset, "a", None)  # type: ignore[arg-type]
    with pytest.raises(NotFound, match="missing"):
        assets.put(tmp_path / "missing")
    for odd in (tmp_path, Path("/dev/zero")):
        with pytest.raises(InvalidArgument, match=str(odd)):
            assets.put(odd)
    with pytest.raises(NotFound, match=NOBODYS):
        assets.read(NOBODYS)
    assert [each.size for each in assets.list()] == [1]
    assert files(path) == []


@dataclass
class Recipe:
    """A typed document with assets."""

    title: str
    picture: Optional[satchel.Asset] = None
    steps: List[satchel.Asset] = field(default_factory=list)
    sounds: Dict[str, satchel.Asset] = field(default_factory=dict)


def test_a_field_of_a_dataclass_may_be_an_asset(store: satchel.Store, assets: Assets) -> None:
    recipes = store.records("recipes", of=Recipe)
    one, other = assets.put(b"one", type="image/png"), assets.put(b"other")
    recipe = Recipe("Pad Thai", one, [one, other], {"pan": other})
    recipes.put("r1", recipe)
    recipes.put_many({"r2": Recipe("Soup", other), "r3": Recipe("Rice")})
    found = recipes.get("r1")
    assert found == recipe
    assert assets.get(found.steps[1]).bytes() == b"other"
    assert [recipes.get(each).picture for each in ("r2", "r3")] == [other, None]
    assert [assets.info(each).references for each in (one, other)] == [1, 2]
    recipes.update("r3", {"picture": one})
    assert recipes.get("r3").picture == one
    # In the untyped collection it is the object that other languages have.
    assert store.records("recipes").get("r2")["picture"] == other.json
    # Another asset replaces all members of the one before.
    untyped = store.records("recipes")
    untyped.put("r6", {"title": "x", "picture": {**Asset(url="https://example.org/a").json, "alt": "A"}})
    recipes.put("r6", Recipe("x", one))
    assert untyped.get("r6")["picture"]["_asset"] == one.json["_asset"]
    with pytest.raises(InvalidArgument, match="/picture"):
        recipes.put("r4", {"title": "x", "picture": {"sha256": NOBODYS}})
    with pytest.raises(ConstraintViolation):
        recipes.put("r4", Recipe("x", Asset(NOBODYS)))
    store.records("recipes").put("r5", {"title": "x", "picture": "a text"})
    with pytest.raises(InvalidArgument, match="/picture"):
        recipes.get("r5")
