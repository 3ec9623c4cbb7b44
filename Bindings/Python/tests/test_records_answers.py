"""Answers of a collection: pages, groups, sums, how queries run, and writes by a condition."""

from __future__ import annotations

import random
import warnings
from dataclasses import dataclass

import pytest

import satchel


@pytest.fixture
def tasks(store):
    found = store.records("tasks", indexes=["due", "kind", satchel.records.Index("code", unique=True)])
    found.put_many(
        (f"t{i}", {"due": i % 7, "kind": "abc"[i % 3], "code": f"c{i}", "price": i / 4, "n": {"x": i}})
        for i in range(40)
    )
    return found


def test_pages_are_the_whole_result(tasks):
    whole = [each.id for each in tasks.list(order_by=["-due", "kind"])]
    page = tasks.page(order_by=["-due", "kind"], limit=7)
    found = [each.id for each in page]
    while page.cursor is not None:
        tasks.delete(found[-1])
        tasks.put(f"new{len(found)}", {"due": 9})
        page = tasks.page(order_by=["-due", "kind"], limit=7, after=page.cursor)
        found += [each.id for each in page]
    assert found == whole
    assert len(page) == len(page.records)
    assert page[0].id == page.records[0].id
    first = tasks.page(order_by="due", limit=2)
    with pytest.raises(satchel.InvalidArgument, match="another order"):
        tasks.page(order_by="-due", limit=2, after=first.cursor)
    with pytest.raises(satchel.InvalidArgument, match="/after"):
        tasks.page(after="nothing")


def test_an_index_of_the_records_themselves_is_made_when_it_helps(store):
    notes = store.records("notes")
    notes.put_many((f"n{i}", {}) for i in range(1200))
    assert notes.explain(order_by="-@created").order == "sorted"
    newest = notes.list(order_by=["-@modified"], limit=3)
    assert notes.explain(order_by="-@modified", limit=3).order == "index"
    notes.put("n5", {"changed": True})
    notes.delete("n1199")
    assert notes.list(order_by="-@modified", limit=1)[0].id in {"n5", newest[0].id}
    assert [each.id for each in notes.list(order_by="@id", limit=2)] == ["n0", "n1"]
    assert store.check() == []


@pytest.mark.parametrize(
    ("where", "order_by", "access", "paths", "tests"),
    [
        ({"due": 3}, None, "index", ["due"], []),
        ({"any": [{"due": 3}, {"kind": "a"}]}, None, "union", ["due", "kind"], []),
        ({"any": [{"due": 3}, {"n.x": 2}]}, None, "scan", [], ["due", "n.x"]),
        ({"not": {"due": {"gte": 1}}}, None, "index", ["due"], []),
        ({"due": {"ne": 3}}, None, "index", ["due"], []),
        ({"due": 3, "n.x": {"lt": 20}}, None, "index", ["due"], ["n.x"]),
        ({"@id": {"in": ["t1", "t2"]}}, None, "ids", ["@id"], []),
        ({"code": "c7", "kind": "b"}, None, "index", ["code"], ["kind"]),
        (None, "due", "scan", [], []),
    ],
)
def test_how_a_query_runs(tasks, where, order_by, access, paths, tests):
    plan = tasks.explain(where, order_by)
    assert (plan.access, plan.paths, plan.tests) == (access, paths, tests), plan.text
    assert plan.order == ("sorted" if order_by else "insertion")
    assert plan.found <= 40
    assert plan.text
    assert tasks.explain(order_by="due", limit=3).order == "index"


def test_groups_and_sums(tasks):
    documents = [each.document for each in tasks.list()]
    prices = [each["price"] for each in documents]
    assert tasks.counts("kind") == {"a": 14, "b": 13, "c": 13}
    assert tasks.counts(["kind", "due"], where={"due": {"lt": 1}}) == {("a", 0): 2, ("b", 0): 2, ("c", 0): 2}
    with pytest.warns(satchel.QueryWarning, match='no record has "absent"'):
        assert tasks.counts("absent") == {None: 40}
    assert tasks.distinct("due") == list(range(7))
    assert tasks.sum("price") == sum(prices)
    assert tasks.sum("due") == sum(each["due"] for each in documents)
    assert tasks.sum("kind") == 0
    assert tasks.average("kind") is None
    assert tasks.average("price", where={"kind": "a"}) == pytest.approx(sum(prices[::3]) / 14)
    assert tasks.min("code") == "c0"
    assert tasks.max("n.x", group_by="kind") == {"a": 39, "b": 37, "c": 38}
    assert tasks.max("absent") is None
    with pytest.raises(satchel.InvalidArgument, match="an array or an object"):
        tasks.counts("n")


def test_sums_of_integers_are_exact(store):
    numbers = store.records("numbers")
    numbers.put_many((str(i), {"n": 2**62 - i}) for i in range(2))
    assert numbers.sum("n") == 2**63 - 1
    numbers.put("2", {"n": 0.5})
    assert isinstance(numbers.sum("n"), float)


def test_selected_values_and_nulls(store):
    notes = store.records("notes")
    notes.put("a", {"title": "A", "n": {"x": 1, "y": [1, 2]}, "long": "text"})
    notes.put("b", {"title": None})
    notes.put("c", {"title": "C"})
    found = {each.id: each.document for each in notes.list(select=["title", "n.y"])}
    assert found == {"a": {"title": "A", "n": {"y": [1, 2]}}, "b": {"title": None}, "c": {"title": "C"}}
    assert [each.id for each in notes.list(order_by="title", nulls="last")] == ["a", "c", "b"]
    assert [each.id for each in notes.list(order_by="-title", nulls="first")] == ["b", "c", "a"]
    with pytest.raises(satchel.InvalidArgument, match="select"):
        notes.list(select=["@created"])
    with pytest.raises(satchel.InvalidArgument, match="nulls"):
        notes.list(nulls="middle")


@pytest.mark.parametrize("guess", ["due desc", "due ASC", "due__gt", "due__startswith", "$.due"])
def test_a_path_in_the_syntax_of_another_library_is_refused(tasks, guess):
    with pytest.raises(satchel.InvalidArgument, match="due"):
        tasks.list(order_by=guess)
    with pytest.raises(satchel.InvalidArgument, match="due"):
        tasks.list(where={guess: 1})
    with pytest.warns(satchel.QueryWarning):
        assert tasks.list(where={f"/{guess}": 1}) == []


def test_writes_by_a_condition(tasks, store):
    assert tasks.update_where({"kind": "a"}, {"kind": "A", "price": None}) == 14
    assert tasks.counts("kind") == {"A": 14, "b": 13, "c": 13}
    assert tasks["t0"] == {"due": 0, "kind": "A", "code": "c0", "n": {"x": 0}}
    with pytest.raises(satchel.ConstraintViolation, match="unique"):
        tasks.update_where({"kind": "b"}, {"code": "same"})
    assert tasks["t1"]["code"] == "c1", "nothing was changed"
    assert tasks.delete_where({"any": [{"kind": "A"}, {"due": 6}]}) == 17
    assert tasks.count() == 23
    with pytest.raises(satchel.InvalidArgument, match="patch"):
        tasks.update_where(None, ["no"])
    assert tasks.delete_where(None) == 23
    assert store.check() == []


@dataclass
class Contact:
    email: str
    name: str = ""


def test_upsert_by_a_unique_path(store):
    contacts = store.records("contacts", of=Contact, indexes=[satchel.records.Index("email", unique=True)])
    first = contacts.upsert("email", Contact("ada@example.com", "Ada"), id="ada")
    assert first == "ada"
    assert contacts.upsert("email", Contact("ada@example.com", "Ada L.")) == "ada"
    other = contacts.upsert("email", Contact("bob@example.com"))
    assert len(other) == 36
    assert contacts.count() == 2
    assert contacts["ada"] == Contact("ada@example.com", "Ada L.")
    with pytest.raises(satchel.Conflict):
        contacts.upsert("email", Contact("new@example.com"), id="ada")
    with pytest.raises(satchel.InvalidArgument, match="unique index"):
        contacts.upsert("name", Contact("a", "b"))
    plain = store.records("contacts")
    with pytest.raises(satchel.InvalidArgument, match="/email"):
        plain.upsert("email", {"name": "none"})


def test_all_of_it_in_a_batch_and_beside_a_live_query(store):
    numbers = store.records("numbers", indexes=["n"])
    generator = random.Random(5)
    with numbers.watch(where={"any": [{"n": {"lt": 3}}, {"n": 9}]}) as live:
        next(live)
        with store.batch():
            numbers.put_many((str(i), {"n": generator.randrange(10), "rest": i}) for i in range(50))
            before = numbers.count({"n": {"in": [2, 5]}})
            numbers.update_where({"n": 5}, {"n": 2})
            assert (numbers.count({"n": 2}), numbers.count({"n": 5})) == (before, 0)
            assert sum(numbers.counts("n").values()) == 50
        found = next(live)
        assert {each.id for each in found} == set(numbers.ids({"any": [{"n": {"lt": 3}}, {"n": 9}]}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert numbers.page(limit=60).cursor is None
