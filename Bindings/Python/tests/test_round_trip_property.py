"""Loading returns what was sent, without `_storage`: for thousands of generated contents."""

from __future__ import annotations

import copy
from typing import Any, Dict, Iterator, List, Tuple

import pytest
from helpers import portion, stripped, text
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import satchel

LOCATION = {
    "latitude": 31.2305,
    "longitude": 121.4737,
    "sublocality": "Pudong",
    "locality": "Shanghai",
    "admin_area": "Shanghai",
    "country_code": "CN",
}
SCOPES = ("global", "country", "adminarea", "locality", "sublocality", "coordinate", "Country", "GLOBAL")

# A key may hold anything but a NUL, which the library refuses.
keys = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from([2**63, -(10**30), satchel.BigNumber("1e400"), satchel.BigNumber("-2.50E+1234567890")]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=12),
    st.sampled_from(["", "_storage", "x:1", "\0", "\U0001f35c", "é", "e\u0301"]),
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)
good_tags = st.fixed_dictionaries(
    {"entity_id": st.just("?"), "scope": st.sampled_from(SCOPES)},
    optional={"ttl_hours": st.sampled_from([1, 0.5, 168, 720]), "source": values},
)
# Of every sort; none of them is an entity.
bad_tags = st.one_of(
    scalars,
    st.lists(scalars, max_size=2),
    st.fixed_dictionaries({"scope": st.sampled_from(SCOPES)}),
    st.fixed_dictionaries({"entity_id": st.text(min_size=1)}),
    st.fixed_dictionaries({"entity_id": st.integers(0, 9) | st.none(), "scope": st.sampled_from(SCOPES)}),
    st.fixed_dictionaries(
        {"entity_id": st.just("x:bad"), "scope": st.sampled_from(["", "galaxy", "locality ", "кountry"])}
    ),
    st.fixed_dictionaries({"entity_id": st.just("x:bad"), "scope": st.booleans() | st.none()}),
    st.fixed_dictionaries(
        {
            "entity_id": st.just("x:bad"),
            "scope": st.just("global"),
            "ttl_hours": st.sampled_from([-1, -0.5, "1", True, [1], {"h": 1}]),
        }
    ),
)


@st.composite
def tagged(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> Dict[str, Any]:
    """An object with `_storage`, good or bad, at any place among its keys."""
    members = list(
        draw(st.dictionaries(keys.filter(lambda key: key != "_storage"), inner, max_size=4)).items()
    )
    tag = draw(st.one_of(good_tags, good_tags, bad_tags))
    members.insert(draw(st.integers(0, len(members))), ("_storage", tag))
    return dict(members)


contents = st.recursive(
    values,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(keys, inner, max_size=4),
        tagged(inner),
        tagged(inner),
    ),
    max_leaves=10,
)


def is_good(tag: Any) -> bool:
    # A bad one may come upon the same id, but has no scope.
    return isinstance(tag, dict) and tag.get("entity_id") == "?" and "scope" in tag


def tagged_objects(value: Any) -> Iterator[Dict[str, Any]]:
    """Every object with `_storage` that is not itself inside of one."""
    if isinstance(value, dict):
        if "_storage" in value:
            yield value
        for key, child in value.items():
            if key != "_storage":
                yield from tagged_objects(child)
    elif isinstance(value, list):
        for child in value:
            yield from tagged_objects(child)


def numbered(content: Any) -> Tuple[Any, int, int]:
    """Gives each entity an id of its own; gives also how many are good, and how many bad."""
    content = copy.deepcopy(content)
    good: List[Dict[str, Any]] = []
    bad = 0
    for each in tagged_objects(content):
        if is_good(each["_storage"]):
            good.append(each)
        else:
            bad += 1
    for number, each in enumerate(good):
        each["_storage"] = {**each["_storage"], "entity_id": f"x:{number}"}
    return content, len(good), bad


@pytest.fixture(scope="module")
def store() -> Iterator[satchel.Store]:
    with satchel.open(":memory:") as store:
        yield store
        assert store.check() == []


@settings(
    max_examples=portion(3000),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(content=contents)
def test_whatever_was_sent_is_returned(store: satchel.Store, content: Any) -> None:
    content, good, bad = numbered(content)
    before = store.catalogue.load(LOCATION, "any")
    # Content as it was loaded keeps its entities.
    assume(good or before is None or text(before.content) != text(content))
    receipt = store.catalogue.persist(LOCATION, {"section": "any", "content": content})
    assert receipt.saved + receipt.updated + receipt.reused == good
    # A member that refers to no asset is a problem of its own.
    assert sum("/_asset" not in problem.pointer for problem in receipt.problems) == bad
    assert receipt.inline >= bad
    loaded = store.catalogue.load(LOCATION, "any")
    assert loaded is not None
    assert text(loaded.content) == text(stripped(content))
    assert (loaded.missing, loaded.expired) == ([], [])
    (header,) = store.catalogue.sections(LOCATION)
    assert header.entity_count == good
    (plan,) = store.catalogue.plan(LOCATION).values()
    assert sorted(plan.fresh) == sorted(f"x:{number}" for number in range(good))


@settings(
    max_examples=portion(500),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(content=contents, ids=st.lists(st.sampled_from(["x:1", "x:2", "y:1"]), min_size=1, max_size=4))
def test_entities_that_share_ids_come_back_too(store: satchel.Store, content: Any, ids: List[str]) -> None:
    content = copy.deepcopy(content)
    for number, each in enumerate(tagged_objects(content)):
        if is_good(each["_storage"]):
            each["_storage"] = {**each["_storage"], "entity_id": ids[number % len(ids)]}
    store.catalogue.persist(LOCATION, {"section": "any", "content": content})
    loaded = store.catalogue.load(LOCATION, "any")
    assert loaded is not None
    assert text(loaded.content) == text(stripped(content))
