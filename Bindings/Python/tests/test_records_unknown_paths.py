"""Warnings of paths that no record has."""

from __future__ import annotations

import warnings

import pytest

import satchel


@pytest.fixture
def books(store):
    books = store.records("books")
    books.put("a", {"title": "Emma", "year": 1815})
    return books


QUERIES = {
    "list": lambda books: books.list({"titel": "Emma"}),
    "order": lambda books: books.list(order_by="titel"),
    "ids": lambda books: books.ids({"titel": {"ne": 1}}, order_by="-titel"),
    "page": lambda books: books.page(order_by="titel", limit=10),
    "count": lambda books: books.count({"titel": "Emma"}),
    "counts": lambda books: books.counts("titel"),
    "distinct": lambda books: books.distinct("titel"),
    "sum": lambda books: books.sum("titel"),
}


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_warns_once_at_its_caller(books, name):
    with pytest.warns(satchel.QueryWarning) as issued:
        QUERIES[name](books)
    assert [str(each.message) for each in issued] == [
        'books: query: no record has "titel": did you mean "title"?'
    ]
    assert issued[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        QUERIES[name](books)


def test_a_path_that_a_record_has_gives_no_warning(books):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert books.list({"title": "Ulysses"}) == []
        assert books.list({"archived": {"exists": True}}) == []
        assert books.counts("year") == {1815: 1}


def test_a_warning_can_be_an_error(books):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(satchel.QueryWarning, match="did you mean"):
            books.list({"titel": "Emma"})
