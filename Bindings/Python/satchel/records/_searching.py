"""The searches of a collection: by words, and by distance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Dict, Generic, List, Optional, TypeVar

from satchel import _encoding
from satchel._html import Rows
from satchel._library import json_answer, library
from satchel.errors import InvalidArgument
from satchel.records._answers import AnsweringCollection
from satchel.records._declarations import items_of
from satchel.records._queries import check_path, lend_live, lend_query
from satchel.records._values import NearbyRecord, RecordSearchHit, record_of, spans
from satchel.records._watch import LiveResult, Watch

__all__ = ["SearchingCollection"]

_Document = TypeVar("_Document")


class SearchingCollection(AnsweringCollection[_Document], Generic[_Document]):
    """The part of :class:`satchel.Records` that searches declared texts and positions."""

    __slots__ = ()

    def search(
        self,
        text: str,
        where: Optional[Mapping[str, Any]] = None,
        limit: int = 20,
        offset: int = 0,
        *,
        paths: Optional[Iterable[str]] = None,
    ) -> List[RecordSearchHit[_Document]]:
        """Finds records by the words of the texts that ``store.records(name, search=[…])`` declares.

        >>> for hit in notes.search("creme bru"):
        ...     print(hit.record.id, [hit.excerpt[start:end] for start, end in hit.highlights])

        All words must occur, each at the beginning of a word of one of the texts; case and diacritics are
        ignored. Chinese, Japanese, Thai and other texts without spaces are found anywhere in a run of
        characters. The first search makes the index; from then on it is changed with the records, and each
        search adds the new ones. A store that is opened read-only and whose index lacks something is searched
        with one in memory, of at most 256 MiB.

        :param text: the words
        :param where: finds only records that match, as in :meth:`list`
        :param limit: the maximum number of hits
        :param offset: the number of hits to skip
        :param paths: the declared paths to search; None for all
        :returns: the best first; of several with the same score the older record
        :raises InvalidArgument: for a collection that declares no texts, for a path that is not declared, for
            more than 64 words or a run of more than 64 characters; and as in :meth:`list`
        :raises Busy: while another transaction keeps new records from being added to the index
        :raises Full: when a read-only store needs a larger index in memory
        """
        lent = lend_query(where, limit=limit, offset=offset, known=self._paths, **self._words(text, paths))
        found = json_answer(library.satchel_records_search, self._pointer, lent)
        return Rows([self._hit(each) for each in found])

    def watch_search(
        self,
        text: str,
        where: Optional[Mapping[str, Any]] = None,
        limit: int = 20,
        *,
        paths: Optional[Iterable[str]] = None,
    ) -> Watch[LiveResult[RecordSearchHit[_Document]]]:
        """A live query, as :meth:`watch`, whose results are the hits of :meth:`search`.

        ``text``, ``where``, ``limit`` and ``paths`` are those of :meth:`search`.
        """

        def convert(found: Dict[str, Any]) -> LiveResult[RecordSearchHit[_Document]]:
            return LiveResult([self._hit(each) for each in found.pop("hits")], **found)

        lent = lend_live("search", where, limit=limit, known=self._paths, **self._words(text, paths))
        return Watch(self._store, self._pointer, lent, convert)

    def _words(self, text: Any, paths: Any) -> Dict[str, Any]:
        listed = None if paths is None else [self._path(each) for each in items_of(paths, "paths")]
        return {"text": _checked(text, "text"), "paths": listed}

    def _hit(self, found: Dict[str, Any]) -> RecordSearchHit[_Document]:
        return RecordSearchHit(
            record=record_of(found["record"], self._read),
            score=found["score"],
            path=found["path"],
            excerpt=found["excerpt"],
            highlights=spans(found["excerpt"], found["highlights"]),
        )

    def near(
        self,
        latitude: float,
        longitude: float,
        within: float,
        path: Optional[str] = None,
        where: Optional[Mapping[str, Any]] = None,
        limit: Optional[int] = None,
    ) -> List[NearbyRecord[_Document]]:
        """The records within a distance of a position, the nearest first.

        >>> for found in cafes.near(47.37, 8.54, 500):
        ...     print(found.record.id, round(found.distance), "m")

        ``store.records(name, positions=[…])`` declares where the positions are: dicts with ``latitude`` and
        ``longitude``, ``lat`` and ``lon`` or ``lat`` and ``lng``, or Points of GeoJSON.

        Of several records at the same distance the older one is first.

        :param latitude: degrees, -90 to 90
        :param longitude: degrees, -180 to 180
        :param within: metres
        :param path: a declared path; may be None where one is declared
        :param where: finds only records that match, as in :meth:`list`
        :param limit: the maximum number of records
        :raises InvalidArgument: for a collection that declares no positions, for a path that is not declared,
            for a coordinate out of range, and for a negative distance; and as in :meth:`list`
        """
        place = self._place(latitude, longitude, within, path)
        lent = lend_query(where, limit=limit, known=self._paths, **place)
        found = json_answer(library.satchel_records_near, self._pointer, lent)
        return Rows([self._nearby(each) for each in found])

    def watch_near(
        self,
        latitude: float,
        longitude: float,
        within: float,
        path: Optional[str] = None,
        where: Optional[Mapping[str, Any]] = None,
        limit: Optional[int] = None,
    ) -> Watch[LiveResult[NearbyRecord[_Document]]]:
        """A live query, as :meth:`watch`, whose results are those of :meth:`near`.

        ``latitude``, ``longitude``, ``within``, ``path``, ``where`` and ``limit`` are those of :meth:`near`.
        """

        def convert(found: Dict[str, Any]) -> LiveResult[NearbyRecord[_Document]]:
            return LiveResult([self._nearby(each) for each in found.pop("hits")], **found)

        place = self._place(latitude, longitude, within, path)
        lent = lend_live("near", where, limit=limit, known=self._paths, **place)
        return Watch(self._store, self._pointer, lent, convert)

    def _place(self, latitude: Any, longitude: Any, within: Any, path: Any) -> Dict[str, Any]:
        return {
            "latitude": _encoding.number(latitude, "latitude"),
            "longitude": _encoding.number(longitude, "longitude"),
            "within": _encoding.number(within, "within"),
            "path": None if path is None else self._path(path),
        }

    def _nearby(self, found: Dict[str, Any]) -> NearbyRecord[_Document]:
        return NearbyRecord(record_of(found["record"], self._read), found["distance"])

    def _path(self, path: Any) -> str:
        text = _checked(path, "path")
        check_path(text, self._read.kind)
        return text


def _checked(text: Any, name: str) -> str:
    if not isinstance(text, str):
        raise InvalidArgument(f"{name} must be a str, not {type(text).__name__}")
    return text
