"""Searches of a collection: by the words of declared texts, and by the distance of declared positions."""

from dataclasses import dataclass, field
from typing import Any, Dict, List

import pytest

import satchel
from satchel.records import NearbyRecord, RecordSearchHit

RECIPES = {
    "creme": {"title": "Crème brûlée", "steps": ["Whip the cream", {"text": "Burn sugar"}], "sweet": True},
    "soup": {"title": "Cream of leek", "steps": "Cut, boil", "sweet": False},
    "hon": {"title": "日本語の本", "steps": [], "sweet": False},
}


@pytest.fixture
def recipes(store):
    recipes = store.records("recipes", search=["title", "steps"])
    recipes.put_many(RECIPES)
    return recipes


def ids(hits: List[Any]) -> List[str]:
    return [hit.record.id for hit in hits]


def test_records_are_found_by_words(recipes):
    assert ids(recipes.search("creme bru")) == ["creme"]
    assert set(ids(recipes.search("cream"))) == {"creme", "soup"}
    assert ids(recipes.search("cream", where={"sweet": False})) == ["soup"]
    assert ids(recipes.search("本語")) == ["hon"]
    assert recipes.search("sugar", paths=["title"]) == []
    assert ids(recipes.search("sugar", paths=["steps"])) == ["creme"]
    assert recipes.search("") == []
    both = ids(recipes.search("cream"))
    assert ids(recipes.search("cream", limit=1)) == both[:1]
    assert ids(recipes.search("cream", limit=1, offset=1)) == both[1:]


def test_a_hit_has_an_excerpt_and_highlights_of_characters(recipes):
    [hit] = recipes.search("brulee")
    assert isinstance(hit, RecordSearchHit)
    assert hit.record == RECIPES["creme"]
    assert (hit.record.revision, hit.path, hit.excerpt) == (1, "title", "Crème brûlée")
    assert hit.highlights == [(6, 12)]
    assert hit.score > 0
    [hit] = recipes.search("語の")
    assert [hit.excerpt[start:end] for start, end in hit.highlights] == ["語の"]


def test_writes_are_found_by_the_next_search(recipes, store):
    assert ids(recipes.search("leek")) == ["soup"]
    recipes.update("soup", {"title": "Cream of carrot"})
    assert recipes.search("leek") == []
    with store.batch():
        recipes.put("late", {"title": "Leek pie"})
        recipes.delete("creme")
        assert ids(recipes.search("leek")) == ["late"]
        assert recipes.search("brulee") == []
    recipes.clear()
    assert recipes.search("cream") == []
    assert store.check() == []


def test_a_batch_that_is_rolled_back_leaves_nothing_in_the_index(recipes, store):
    assert recipes.search("pie") == []

    def fail():
        with store.batch():
            recipes.put("late", {"title": "Leek pie"})
            recipes.update("soup", {"title": "Pie"})
            assert set(ids(recipes.search("pie"))) == {"late", "soup"}
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert recipes.search("pie") == []
    assert ids(recipes.search("leek")) == ["soup"]


def test_documents_are_of_the_type_that_the_collection_was_opened_of(store):
    @dataclass
    class Cafe:
        title: str
        at: Dict[str, float] = field(default_factory=dict)

    cafes = store.records("cafes", of=Cafe, search=["title"], positions=["at"])
    odeon = Cafe("Odeon", {"lat": 47.5, "lon": 8.5})
    cafes.put("odeon", odeon)
    assert [hit.record.document for hit in cafes.search("odeon")] == [odeon]
    assert [found.record.document for found in cafes.near(47.5, 8.5, 1)] == [odeon]
    with pytest.raises(satchel.InvalidArgument, match='did you mean "title"'):
        cafes.search("odeon", paths=["titel"])
    with pytest.raises(satchel.InvalidArgument, match="has no field"):
        store.records("others", of=Cafe, search=["name"])


def test_records_near_a_position(store):
    cafes = store.records("cafes", positions=["at"])
    for number in range(100):
        cafes.put(f"c{number}", {"n": number, "at": {"latitude": 47 + number / 1000, "longitude": 8}})
    found = cafes.near(47.0201, 8, within=150)
    assert ids(found) == ["c20", "c21", "c19"]
    assert isinstance(found[0], NearbyRecord)
    assert [round(each.distance) for each in found] == [11, 100, 122]
    assert ids(cafes.near(47, 8, 1e6, where={"n": {"gte": 50}}, limit=2)) == ["c50", "c51"]
    cafes.put("c20", {"at": {"type": "Point", "coordinates": [-179.9999, 10]}})
    assert ids(cafes.near(47.0201, 8, within=150)) == ["c21", "c19"]
    assert ids(cafes.near(10, 179.9999, 100, "at")) == ["c20"]
    assert store.check() == []


def test_what_is_not_declared_is_refused_with_the_declaration(store):
    plain = store.records("plain")
    with pytest.raises(satchel.InvalidArgument, match='"search": \\["title"\\]'):
        plain.search("a")
    with pytest.raises(satchel.InvalidArgument, match='"positions": \\["place"\\]'):
        plain.near(0, 0, 1)
    several = store.records("several", search=["title"], positions=["home", "work"])
    with pytest.raises(satchel.InvalidArgument, match="home, work"):
        several.near(0, 0, 1)
    with pytest.raises(satchel.InvalidArgument, match="body"):
        several.search("a", paths=["body"])
    assert several.near(0, 0, 1, "work") == []
    [info] = [each for each in store.collections() if each.name == "several"]
    assert (info.search, info.positions) == (["title"], ["home", "work"])


def test_words_beyond_the_bound_are_refused(recipes):
    words = [f"w{number}" for number in range(65)]
    assert recipes.search(" ".join(words[:64])) == []
    with pytest.raises(satchel.InvalidArgument, match="64"):
        recipes.search(" ".join(words))
    assert recipes.search("本" * 64) == []
    with pytest.raises(satchel.InvalidArgument, match="64"):
        recipes.search("本" * 65)


@pytest.mark.parametrize(
    "arguments",
    [
        {"text": 1},
        {"text": "a", "limit": -1},
        {"text": "a", "limit": "1"},
        {"text": "a", "offset": -1},
        {"text": "a", "paths": "title"},
        {"text": "a", "paths": [1]},
        {"text": "a", "where": {"n": {"near": 1}}},
    ],
)
def test_invalid_searches(recipes, arguments):
    with pytest.raises(satchel.InvalidArgument):
        recipes.search(**arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        (91, 0, 1),
        (0, 181, 1),
        (0, 0, -1),
        ("0", 0, 1),
        (0, 0, float("nan")),
        (0, 0, 1, 7),
        (0, 0, 1, "at", []),
    ],
)
def test_invalid_positions(store, arguments):
    cafes = store.records("cafes", positions=["at"])
    with pytest.raises(satchel.InvalidArgument):
        cafes.near(*arguments)


def test_a_read_only_store_is_searched(tmp_path):
    path = tmp_path / "a.satchel"
    with satchel.open(path) as store:
        recipes = store.records("recipes", search=["title"])
        recipes.put_many(RECIPES)
        with satchel.open(path, read_only=True) as reader:
            assert ids(reader.records("recipes").search("leek")) == ["soup"]
            assert recipes.search("leek")
            recipes.put("late", {"title": "Leek pie"})
            assert set(ids(reader.records("recipes").search("leek"))) == {"late", "soup"}


def test_declarations_of_searches(store):
    for wrong in ("title", [1], [""], ["a"] * 2, [f"p{number}" for number in range(9)]):
        with pytest.raises(satchel.InvalidArgument):
            store.records("wrong", search=wrong)
    for wrong in ("title", [1], [f"p{number}" for number in range(5)]):
        with pytest.raises(satchel.InvalidArgument):
            store.records("wrong", positions=wrong)
    with pytest.raises(satchel.InvalidArgument, match="sensitive"):
        store.records("wrong", search=["a"], sensitive=["a"])
