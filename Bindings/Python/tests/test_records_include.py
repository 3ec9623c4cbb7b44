"""Related records that a query includes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

import pytest

import satchel


@dataclass
class Book:
    title: str
    author: Optional[str] = None


@pytest.fixture
def books(store):
    store.records("authors").put_many([("ada", {"name": "Ada"}), ("emmy", {"name": "Emmy"})])
    store.records("tags").put_many([("t1", {"name": "old"}), ("t2", {"name": "new"})])
    found = store.records(
        "books",
        relations={
            "author": "authors",
            "tags": satchel.records.Relation("tags", on_delete="nullify", many=True),
        },
    )
    found.put_many(
        [
            ("b1", {"title": "Algebra", "author": "ada", "tags": ["t2", "t1"]}),
            ("b2", {"title": "Botany", "author": "ada", "tags": []}),
            ("b3", {"title": "Chemistry"}),
        ]
    )
    return found


def test_a_record_has_the_related_records(books):
    first, second, third = books.list(order_by="@id", include=["author", "tags"])
    author = first.included["author"]
    assert isinstance(author, satchel.records.Record)
    assert (author.id, author.document, author.revision, author["name"]) == ("ada", {"name": "Ada"}, 1, "Ada")
    assert [each.id for each in first.included["tags"]] == ["t2", "t1"]
    assert second.included == {"author": author, "tags": []}
    assert third.included == {"author": None, "tags": []}
    assert first["author"] == "ada"
    assert author.included == {}


def test_without_include_there_are_none(books):
    assert [each.included for each in books.list()] == [{}, {}, {}]
    assert books.record("b1").included == {}
    assert books.list(include=[])[0].included == {}


def test_pages_and_selected_values_have_them(books):
    page = books.page(order_by="-@id", limit=2, include=("author",), select=["title"])
    assert [each.included["author"] and each.included["author"].id for each in page] == [None, "ada"]
    assert page[1].document == {"title": "Botany"}


def test_documents_of_a_dataclass_have_them_as_dicts(books, store):
    typed = store.records("books", of=Book)
    found = typed.list(order_by="@id", include=["author"])
    assert found[0].document == Book("Algebra", "ada")
    assert found[0].included["author"].document == {"name": "Ada"}


@pytest.mark.parametrize("include", [["autor"], "author", [1], ["@id"], ["title"]])
def test_what_is_no_relation_is_refused(books, include):
    with pytest.raises(satchel.InvalidArgument):
        books.list(include=include)


def test_the_message_names_the_relations(books):
    with pytest.raises(
        satchel.InvalidArgument, match=r'"autor" is not a declared relation.*"author", "tags"'
    ):
        books.list(include=["autor"])


def test_a_batch_sees_its_own_writes(books, store):
    with store.batch():
        store.records("authors").put("new", {"name": "New"})
        books.put("b3", {"title": "Chemistry", "author": "new"})
        [found] = books.list({"title": "Chemistry"}, include=["author"])
        assert found.included["author"].document == {"name": "New"}
