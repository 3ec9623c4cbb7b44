"""Questions to a collection, against a plain program; with indexes and without."""

from __future__ import annotations

import datetime
import time
from typing import Any, Callable, Dict, Iterator, List, Optional

import pytest
from helpers import portion
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from record_model import listed

import satchel
from satchel import Records

Documents = Dict[str, Dict[str, Any]]

#: The number of records of which many are asked for.
MANY = 8000

SAMPLE: Documents = {
    "a": {"n": 1, "s": "x"},
    "b": {"n": 1.0, "s": "y", "o": {"k": [1, 2]}},
    "c": {"n": None, "t": ["red", "blue"]},
    "d": {"n": "1"},
    "e": {"n": True},
    "f": {"n": 2**53 + 1},
    "g": {"n": 2.0**53},
    "h": {},
    "i": {"n": [1], "s": "xy"},
    "j": {"n": {"m": 1}},
    "k": {"n": False},
    "l": {"n": -3.5},
}

ASKED: List[Any] = [
    ({"n": 1}, "ab"),
    ({"n": 1.0}, "ab"),
    ({"n": True}, "e"),
    ({"n": None}, "c"),
    ({"n": "1"}, "d"),
    ({"n": {"eq": [1]}}, "i"),
    ({"n": {"eq": {"m": 1.0}}}, "j"),
    ({"/n/m": 1}, "j"),
    ({"n.m": 1}, "j"),
    ({"n": {"ne": 1}}, "cdefghijkl"),
    ({"n": {"exists": False}}, "h"),
    ({"n": {"exists": True}}, "abcdefgijkl"),
    ({"n": {"lt": 1}}, "l"),
    ({"n": {"lte": 1}}, "abl"),
    ({"n": {"gt": 2**53}}, "f"),
    ({"n": {"gte": 2**53}}, "fg"),
    ({"n": {"gt": 0, "lt": 2}}, "ab"),
    ({"n": {"gt": ""}}, "d"),
    ({"n": {"in": [1, None, "1"]}}, "abcd"),
    ({"n": {"in": ()}}, ""),
    ({"n": {"in": range(3)}}, "ab"),
    ({"s": {"in": {"x": 0, "y": 0}.keys()}}, "ab"),
    ({"s": {"prefix": "x"}}, "ai"),
    ({"s": {"prefix": ""}}, "abi"),
    ({"t": {"contains": "blue"}}, "c"),
    ({"t": {"contains": "blu"}}, ""),
    ({"s": {"contains": "y"}}, "bi"),
    ({"o.k": {"contains": 2.0}}, "b"),
    ({"s": "x", "n": 1}, "a"),
    ({"any": [{"s": "x"}, {"n": None}]}, "ac"),
    ({"all": [{"n": 1}, {"s": "y"}]}, "b"),
    ({"not": {"n": {"exists": True}}}, "h"),
    ({"not": {"any": [{"n": {"exists": True}}, {"s": "x"}]}}, "h"),
    ({"any": []}, ""),
    ({"all": []}, "abcdefghijkl"),
    ({}, "abcdefghijkl"),
    ({"@id": {"gt": "j"}}, "kl"),
    ({"@id": {"in": ["a", "zz"]}}, "a"),
    ({"@revision": 2}, ""),
    ({"@sync_status": "local"}, "abcdefghijkl"),
]


@pytest.fixture(params=[False, True], ids=["no index", "indexes"])
def sample(store: satchel.Store, request: pytest.FixtureRequest) -> Iterator[Records[Dict[str, Any]]]:
    declared = ["n", "s", "o.k", "/n/m"] if request.param else []
    with store.records("sample", indexes=declared) as records:
        records.put_many(SAMPLE)
        yield records


@pytest.mark.parametrize(("where", "ids"), ASKED)
def test_a_condition_finds(sample: Records[Dict[str, Any]], where: Dict[str, Any], ids: str) -> None:
    assert sample.ids(where=where) == list(ids)
    assert sample.count(where=where) == len(ids)
    assert [each.document for each in sample.list(where)] == [SAMPLE[id] for id in ids]


@pytest.mark.parametrize(
    ("order", "ids"),
    [
        (None, "abcdefghijkl"),
        ("n", "hckelabgfdij"),
        ("-n", "jidfgablekch"),
        (["s", "-@id"], "lkjhgfedcaib"),
        (["-s"], "biacdefghjkl"),
        ("@id", "abcdefghijkl"),
        ("-@id", "lkjihgfedcba"),
        (["@revision", "-@id"], "lkjihgfedcba"),
        ([], "abcdefghijkl"),
    ],
)
def test_an_order_is_kept(sample: Records[Dict[str, Any]], order: Any, ids: str) -> None:
    assert sample.ids(order_by=order) == list(ids)
    assert sample.ids(order_by=order, limit=5) == list(ids[:5])
    assert sample.ids(order_by=order, limit=5, offset=4) == list(ids[4:9])
    assert sample.ids(order_by=order, offset=10) == list(ids[10:])
    assert sample.ids(order_by=order, limit=0) == []
    assert sample.ids(order_by=order, limit=2**63 - 1, offset=100) == []


BAD_QUERIES: Dict[str, Dict[str, Any]] = {
    "a list": {"where": ["n"]},
    "a text": {"where": "n = 1"},
    "an unknown operator": {"where": {"n": {"like": 1}}},
    "no operator": {"where": {"n": {}}},
    "a list without an operator": {"where": {"n": [1]}},
    "a range of booleans": {"where": {"n": {"lt": True}}},
    "an empty path": {"where": {"": 1}},
    "in without a list": {"where": {"n": {"in": 5}}},
    "in of a text": {"where": {"n": {"in": "abc"}}},
    "a prefix that is a number": {"where": {"n": {"prefix": 5}}},
    "exists with a number": {"where": {"n": {"exists": 1}}},
    "any of a dict": {"where": {"any": {"n": 1}}},
    "not of a list": {"where": {"not": [1]}},
    "an unknown member of the record": {"where": {"@author": 1}},
    "an invalid pointer": {"where": {"/n~2": 1}},
    "a time without a zone": {"where": {"n": datetime.datetime.min}},
    "not a number": {"where": {"n": {"gt": float("nan")}}},
    "a limit below 0": {"limit": -1},
    "a limit that is a text": {"limit": "5"},
    "a limit that is True": {"limit": True},
    "an offset below 0": {"offset": -1},
    "an order that is a number": {"order_by": 5},
    "an order of numbers": {"order_by": [5]},
    "an order that is a dict": {"order_by": {"n": -1}},
}


@pytest.mark.parametrize("name", BAD_QUERIES)
def test_what_is_no_query_is_refused(sample: Records[Dict[str, Any]], name: str) -> None:
    query = BAD_QUERIES[name]
    with pytest.raises(satchel.InvalidArgument):
        sample.list(**query)
    with pytest.raises(satchel.InvalidArgument):
        sample.ids(**query)
    if "where" in query:
        with pytest.raises(satchel.InvalidArgument):
            sample.count(**query)


def test_a_condition_that_is_too_deep_is_refused(sample: Records[Dict[str, Any]]) -> None:
    deep: Dict[str, Any] = {"n": 1}
    for _ in range(100_000):
        deep = {"not": deep}
    with pytest.raises(satchel.InvalidArgument):
        sample.list(where=deep)
    circle: Dict[str, Any] = {}
    circle["not"] = circle
    with pytest.raises(satchel.InvalidArgument):
        sample.count(where=circle)


def test_an_index_can_be_declared_later_and_given_up(store: satchel.Store) -> None:
    store.records("sample").put_many(SAMPLE)
    for declared in (["n"], ["s", "n"], [], ["o.k"]):
        records = store.records("sample", indexes=declared)
        for where, ids in ASKED:
            assert records.ids(where=where) == list(ids)


def test_a_unique_index_refuses_a_second(store: satchel.Store) -> None:
    records = store.records("rooms", indexes=[satchel.records.Index("code", unique=True)])
    records.put("a", {"code": "H1"})
    for document in ({"code": "H1"}, b'{"code":"\\u00481"}'):
        with pytest.raises(satchel.ConstraintViolation, match=r"rooms/b.*/code"):
            records.put("b", document)
    records.put("a", {"code": "H1", "seats": 5})
    records.put_many({"n1": {"code": None}, "n2": {"code": None}, "m1": {}, "m2": {}})
    records.put("b", {"code": 1})
    with pytest.raises(satchel.ConstraintViolation):
        records.put("c", {"code": 1.0})
    records.put("c", {"code": True})
    long = "x" * 2000
    records.put_many({"long-1": {"code": long + "1"}, "long-2": {"code": long + "2"}})
    with pytest.raises(satchel.ConstraintViolation):
        records.put("long-3", {"code": long + "1"})
    records.delete("a")
    records.put("d", {"code": "H1"})
    assert records.ids(where={"code": "H1"}) == ["d"]
    assert records.count() == 9


def test_a_unique_index_that_the_records_violate_is_not_declared(store: satchel.Store) -> None:
    records = store.records("rooms")
    records.put_many({"a": {"code": 1}, "b": {"code": 1.0}})
    with pytest.raises(satchel.ConstraintViolation, match=r"rooms: /code.* a and b"):
        store.records("rooms", indexes=[{"path": "code", "unique": True}])
    assert records.count() == 2
    records.delete("a")
    store.records("rooms", indexes=[{"path": "code", "unique": True}])


LONG = "z" * 600
CHOICES = ["", "a", "ab", "b", "é", "\uffff", "😀", LONG, LONG + "a", LONG + "b", "\0"]
# Deferred, so that the descriptions that hypothesis writes stay short.
TEXTS = st.deferred(lambda: st.sampled_from(CHOICES))
BIG_NUMBERS = [
    *(2**63, 2**64, 2**64 + 1, 2.0**64, -(2**63) - 1, -(2.0**64), 10**600, 10**600 + 1, 10**700 + 1),
    *map(satchel.BigNumber, ["1e400", "10e399", "1e600", "-1e400", "1e999999999", "1.5e400"]),
]
NUMBERS = st.one_of(
    st.integers(-3, 3),
    st.sampled_from([2**53, 2**53 + 1, 2.0**53, -(2**63), 2**63 - 1, 2.0**63, 0.5, -0.0, 1e300, 5e-324]),
    st.sampled_from(BIG_NUMBERS),
)
SCALARS = st.deferred(lambda: st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS))
LISTS = st.lists(SCALARS, max_size=3)
VALUES = st.deferred(lambda: st.one_of(SCALARS, LISTS, st.dictionaries(st.sampled_from("ab"), SCALARS)))
PATHS = st.sampled_from(["n", "o.a", "/o/b", "o", "none"])
INNER = st.fixed_dictionaries({}, optional={"a": VALUES, "b": VALUES})
DOCUMENTS = st.fixed_dictionaries({}, optional={"n": VALUES, "o": st.one_of(VALUES, INNER)})
IDS = st.sampled_from([f"r{each}" for each in range(12)])
BOUNDS = st.deferred(lambda: st.one_of(NUMBERS, TEXTS))
OPERANDS: Dict[str, st.SearchStrategy[Any]] = {
    "eq": VALUES,
    "ne": VALUES,
    "lt": BOUNDS,
    "lte": BOUNDS,
    "gt": BOUNDS,
    "gte": BOUNDS,
    "in": st.lists(VALUES, max_size=4),
    "prefix": TEXTS,
    "contains": VALUES,
    "exists": st.booleans(),
}
OPERATORS = st.fixed_dictionaries({}, optional=OPERANDS).filter(bool)
TERMS = st.deferred(lambda: st.dictionaries(PATHS, st.one_of(SCALARS, OPERATORS), max_size=2))


def conditions(depth: int) -> st.SearchStrategy[Dict[str, Any]]:
    if depth == 0:
        return TERMS
    inner = st.deferred(lambda: conditions(depth - 1))
    several = st.lists(inner, max_size=3)
    return st.one_of(
        TERMS,
        several.map(lambda each: {"any": each}),
        several.map(lambda each: {"all": each}),
        inner.map(lambda each: {"not": each}),
    )


ORDERS = st.lists(st.builds(lambda sign, path: sign + path, st.sampled_from(["", "-"]), PATHS), max_size=3)
STEPS = st.lists(st.tuples(IDS, st.one_of(st.none(), DOCUMENTS)), max_size=30)


@pytest.mark.filterwarnings("ignore::satchel.QueryWarning")
@settings(max_examples=portion(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    steps=STEPS,
    more=STEPS,
    where=st.one_of(st.none(), conditions(2)),
    order_by=ORDERS,
    limit=st.one_of(st.none(), st.integers(0, 15)),
    offset=st.integers(0, 5),
)
def test_what_is_found_is_what_a_plain_program_finds(
    steps: Any, more: Any, where: Optional[Dict[str, Any]], order_by: List[str], limit: Any, offset: int
) -> None:
    model: Documents = {}
    with satchel.open(":memory:") as store:
        declared = {
            "plain": store.records("plain"),
            "indexed": store.records("indexed", indexes=["n", "o.a", "/o/b", "o"]),
        }
        for half in (steps, more):
            for id, document in half:
                for records in declared.values():
                    if document is None:
                        assert records.delete(id) is (id in model)
                    else:
                        records.put(id, document)
                if document is None:
                    model.pop(id, None)
                else:
                    model[id] = document
            expected = listed(model, where, order_by, limit, offset)
            for name, records in declared.items():
                found = records.list(where, order_by, limit, offset)
                assert [(each.id, each.document) for each in found] == expected, name
                assert records.count(where) == len(listed(model, where)), name
        assert store.check() == []


def seconds(call: Callable[[], object]) -> float:
    """The least time of several calls."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


@pytest.fixture(scope="module")
def numbered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Records[Dict[str, Any]]]:
    with satchel.open(tmp_path_factory.mktemp("numbered") / "a.satchel", durability="relaxed") as store:
        numbered = store.records("numbered", indexes=["code"])
        numbered.put_many(
            (f"k{each:05}", {"code": f"c{each:05}", "n": each, "list": [each]}) for each in range(MANY)
        )
        yield numbered


#: Ways to ask for some values, and the number of records that are found.
MANY_VALUES: Dict[str, Callable[[Records[Any], int], int]] = {
    "get_many": lambda records, count: len(records.get_many([f"k{each:05}" for each in range(count)])),
    "missing ids": lambda records, count: (
        count + len(records.get_many([f"x{each}" for each in range(count)]))
    ),
    "ids and a second condition": lambda records, count: records.count(
        {"@id": {"in": [f"k{each:05}" for each in range(count)]}, "n": {"gte": 0}}
    ),
    "an index": lambda records, count: records.count({"code": {"in": [f"c{n:05}" for n in range(count)]}}),
    "an index and a second condition": lambda records, count: records.count(
        {"code": {"in": [f"c{each:05}" for each in range(count)]}, "n": {"gte": 0}}
    ),
    "no index": lambda records, count: records.count({"n": {"in": list(range(count))}}),
    "arrays": lambda records, count: (
        records.count({"list": {"in": [[each] for each in range(64)]}}) // 64 * count
    ),
}


@pytest.mark.parametrize("way", MANY_VALUES)
def test_many_values_cost_one_look_up_each(numbered: Records[Dict[str, Any]], way: str) -> None:
    ask = MANY_VALUES[way]
    assert (ask(numbered, MANY // 8), ask(numbered, MANY)) == (MANY // 8, MANY)
    few, many = seconds(lambda: ask(numbered, MANY // 8)), seconds(lambda: ask(numbered, MANY))
    # Eight times the values; the square of their number is 64.
    assert many / few < 32


def test_a_text_is_searched_in_linear_time_within_the_time_limit(store: satchel.Store) -> None:
    notes = store.records("notes")
    notes.put("a", {"t": "a" * 400_000, "list": ["a" * 100] * 10_000})

    def ask(length: int) -> None:
        assert notes.count({"t": {"contains": "a" * length + "b"}}) == 0

    assert seconds(lambda: ask(10_000)) / seconds(lambda: ask(100)) < 20
    nothing = {"any": [{path: {"contains": f"b{each}"}} for each in range(2000) for path in ("t", "list")]}
    with store.timeout(0.05), pytest.raises(satchel.TimedOut):
        notes.count(nothing)
