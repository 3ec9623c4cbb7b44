"""Answers of a collection that are not lists of documents: pages, groups, sums, and how a query runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Callable, Dict, Generic, List, Optional, TypeVar, Union

from satchel._library import json_answer, library
from satchel.errors import InvalidArgument
from satchel.records._declarations import items_of
from satchel.records._queries import check_path, lend_live, lend_query
from satchel.records._reading import ReadableCollection, included_paths
from satchel.records._values import Page, QueryPlan, record_of
from satchel.records._watch import Watch
from satchel.values import record_from

__all__ = ["AnsweringCollection"]

_Document = TypeVar("_Document")
#: A path, or several: then the key of a group is a tuple.
_Paths = Union[str, Iterable[str]]


class AnsweringCollection(ReadableCollection[_Document], Generic[_Document]):
    """The part of :class:`satchel.Records` that answers questions about the documents."""

    __slots__ = ()

    def page(
        self,
        where: Optional[Mapping[str, Any]] = None,
        order_by: Optional[_Paths] = None,
        limit: int = 100,
        *,
        after: Optional[str] = None,
        nulls: Optional[str] = None,
        select: Optional[Iterable[str]] = None,
        include: Optional[Iterable[str]] = None,
    ) -> Page[_Document]:
        """The first records that match, and where the next page begins.

        >>> page = courses.page(order_by="-@modified", limit=20)
        >>> while page.cursor is not None:
        ...     page = courses.page(order_by="-@modified", limit=20, after=page.cursor)

        A cursor names a place in the order: records that are written or deleted between two pages make none
        appear twice, and none that keeps its place missing. Where an index has the order, each page costs the
        same. ``where``, ``order_by``, ``nulls``, ``select`` and ``include`` are those of :meth:`list`.

        :param limit: the maximum number of records of the page
        :param after: the ``cursor`` of the page before
        :raises InvalidArgument: also for a cursor of a query with another order; otherwise as :meth:`list`
        """
        lent = lend_query(
            where,
            order_by,
            limit,
            known=self._paths,
            after=after,
            nulls=nulls,
            select=self._selected(select),
            include=included_paths(include),
        )
        found = json_answer(library.satchel_records_page, self._pointer, lent)
        self._warn(found["records"], order_by)
        return Page(
            records=[record_of(each, self._read) for each in found["records"]], cursor=found["cursor"]
        )

    def explain(
        self,
        where: Optional[Mapping[str, Any]] = None,
        order_by: Optional[_Paths] = None,
        limit: Optional[int] = None,
    ) -> QueryPlan:
        """How a query runs: which index or relation finds the records, and what is tested of each of them.

        >>> print(courses.explain(where={"semester": "autumn"}).text)
        finds 12 records by the index of "semester"

        ``where``, ``order_by`` and ``limit`` are those of :meth:`list`.
        """
        lent = lend_query(where, order_by, limit, known=self._paths)
        return record_from(QueryPlan, json_answer(library.satchel_records_explain, self._pointer, lent))

    def counts(self, group_by: _Paths, where: Optional[Mapping[str, Any]] = None) -> Dict[Any, int]:
        """The number of records that match, by the value at a path; None also where it is missing.

        >>> courses.counts("semester")
        {'autumn': 12, 'spring': 9}

        Where an index has the path, one record of each group is read.

        :param group_by: a path, or several: then the keys are tuples
        :param where: as in :meth:`list`
        :raises InvalidArgument: also where a value at a path is a list or a dict
        """
        return {_key(group, group_by): group["count"] for group in self._groups(where, group_by)}

    def distinct(self, path: str, where: Optional[Mapping[str, Any]] = None) -> List[Any]:
        """The different values at a path, in order; None where it is null or missing.

        :param path: of the values
        :param where: as in :meth:`list`
        :raises InvalidArgument: also where a value is a list or a dict
        """
        return [group["key"][0] for group in self._groups(where, path)]

    def sum(
        self, path: str, where: Optional[Mapping[str, Any]] = None, group_by: Optional[_Paths] = None
    ) -> Any:
        """The sum of the numbers at a path; exact for integers, 0 without any.

        :param path: of the values; what is not a number is left out
        :param where: as in :meth:`list`
        :param group_by: a path, or several: the result is a dict of sums by the values there
        """
        return self._aggregate("sum", path, where, group_by)

    def average(
        self, path: str, where: Optional[Mapping[str, Any]] = None, group_by: Optional[_Paths] = None
    ) -> Any:
        """The average of the numbers at a path; None without any. Otherwise as :meth:`sum`.

        :param path: of the values
        :param where: as in :meth:`list`
        :param group_by: as for :meth:`sum`
        """
        return self._aggregate("average", path, where, group_by)

    def min(
        self, path: str, where: Optional[Mapping[str, Any]] = None, group_by: Optional[_Paths] = None
    ) -> Any:
        """The least value at a path, in the order of values; None without any. Otherwise as :meth:`sum`.

        :param path: of the values
        :param where: as in :meth:`list`
        :param group_by: as for :meth:`sum`
        """
        return self._aggregate("min", path, where, group_by)

    def max(
        self, path: str, where: Optional[Mapping[str, Any]] = None, group_by: Optional[_Paths] = None
    ) -> Any:
        """The greatest value at a path, in the order of values; None without any. Otherwise as :meth:`sum`.

        :param path: of the values
        :param where: as in :meth:`list`
        :param group_by: as for :meth:`sum`
        """
        return self._aggregate("max", path, where, group_by)

    def watch_counts(
        self, group_by: Optional[_Paths] = None, where: Optional[Mapping[str, Any]] = None
    ) -> Watch[Any]:
        """A live query, as :meth:`watch`, whose results are those of :meth:`counts`.

        :param group_by: as for :meth:`counts`; without a path, the results are those of :meth:`count`
        :param where: as in :meth:`list`
        """
        return self._watch_groups(where, group_by, lambda group: group["count"])

    def watch_aggregate(
        self,
        function: str,
        path: str,
        where: Optional[Mapping[str, Any]] = None,
        group_by: Optional[_Paths] = None,
    ) -> Watch[Any]:
        """A live query, as :meth:`watch`, whose results are those of :meth:`sum`, :meth:`average`, and so on.

        >>> with sales.watch_aggregate("sum", "total", group_by="month(at)") as results:
        ...     for sums in results:
        ...         draw(sums)

        :param function: "sum", "average", "min" or "max"
        :param path: of the values
        :param where: as in :meth:`list`
        :param group_by: as for :meth:`sum`
        """
        check_path(path, self._read.kind)
        return self._watch_groups(
            where, group_by, lambda group: group["values"][0], aggregates=[{function: path}]
        )

    def _watch_groups(
        self, where: Any, group_by: Any, value: Callable[[Dict[str, Any]], Any], **more: Any
    ) -> Watch[Any]:
        def convert(found: Dict[str, Any]) -> Any:
            return _values(found["groups"], group_by, value)

        lent = lend_live("groups", where, known=self._paths, group_by=self._grouping(group_by), **more)
        return Watch(self._store, self._pointer, lent, convert)

    def _aggregate(self, function: str, path: Any, where: Any, group_by: Any) -> Any:
        check_path(path, self._read.kind)
        groups = self._groups(where, group_by, aggregates=[{function: path}])
        return _values(groups, group_by, lambda group: group["values"][0])

    def _grouping(self, group_by: Any) -> List[Any]:
        paths = _listed(group_by)
        for path in paths:
            check_path(path, self._read.kind)
        return paths

    def _groups(self, where: Any, group_by: Any, **more: Any) -> List[Dict[str, Any]]:
        paths = self._grouping(group_by)
        lent = lend_query(where, known=self._paths, group_by=paths, **more)
        found: List[Dict[str, Any]] = json_answer(library.satchel_records_aggregate, self._pointer, lent)
        self._warn(found, (paths, more), level=4 if not more else 5)
        return found


def _values(groups: List[Dict[str, Any]], group_by: Any, value: Callable[[Dict[str, Any]], Any]) -> Any:
    if group_by is None:
        return value(groups[0])
    return {_key(group, group_by): value(group) for group in groups}


def _listed(paths: Any) -> List[Any]:
    if paths is None:
        return []
    listed = [paths] if isinstance(paths, str) else items_of(paths, "group_by")
    for path in listed:
        if not isinstance(path, str):
            raise InvalidArgument(f"group_by: a path must be a str, not {type(path).__name__}")
    return listed


def _key(group: Dict[str, Any], group_by: Any) -> Any:
    return group["key"][0] if isinstance(group_by, str) else tuple(group["key"])
