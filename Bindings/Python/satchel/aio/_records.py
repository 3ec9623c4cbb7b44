"""The asynchronous twins of Records; written by generate_aio.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from satchel.aio._calls import ClosingTwin, twin_of
from satchel.aio._streams import Watch
from satchel.records import _LEFT_OUT
from satchel.records import Records as BlockingRecords

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping
    from typing import Dict, List, Literal, Optional, Tuple, Union

    from satchel._encoding import FilePath
    from satchel.records._values import MirrorDifference, MirrorReport, PutReport, Record
    from satchel.sync._conflicts import ConflictEntry

__all__ = ["Records"]

_Document = TypeVar("_Document")


@twin_of(BlockingRecords)
class Records(ClosingTwin, Generic[_Document]):
    """The asynchronous twin of :class:`satchel.Records`: its methods are awaited."""

    __slots__ = ()

    _blocking: BlockingRecords[_Document]

    @property
    def name(self) -> str:
        """As :attr:`satchel.Records.name`."""
        return self._blocking.name

    async def warnings(self) -> List[str]:
        """As :meth:`satchel.Records.warnings`."""
        return await self._calls.read(lambda: self._blocking.warnings)

    async def get(self, id: str) -> Optional[_Document]:
        """As :meth:`satchel.Records.get`."""
        return await self._calls.read(lambda: self._blocking.get(id))

    async def text(self, id: str) -> Optional[bytes]:
        """As :meth:`satchel.Records.text`."""
        return await self._calls.read(lambda: self._blocking.text(id))

    async def record(self, id: str) -> Optional[Record[_Document]]:
        """As :meth:`satchel.Records.record`."""
        return await self._calls.read(lambda: self._blocking.record(id))

    async def get_many(self, ids: Iterable[str]) -> Dict[str, _Document]:
        """As :meth:`satchel.Records.get_many`."""
        return await self._calls.read(lambda: self._blocking.get_many(ids))

    def iterate(
        self,
        where: Optional[Mapping[str, Any]] = None,
        order_by: Optional[Union[str, Iterable[str]]] = None,
    ) -> AsyncIterator[Record[_Document]]:
        """As :meth:`satchel.Records.iterate`."""
        return self._calls.each(lambda: self._blocking.iterate(where, order_by))

    async def list(
        self,
        where: Optional[Mapping[str, Any]] = None,
        order_by: Optional[Union[str, Iterable[str]]] = None,
        limit: Optional[int] = None,
        offset: Optional[int] = None,
    ) -> List[Record[_Document]]:
        """As :meth:`satchel.Records.list`."""
        return await self._calls.read(lambda: self._blocking.list(where, order_by, limit, offset))

    async def ids(
        self,
        where: Optional[Mapping[str, Any]] = None,
        order_by: Optional[Union[str, Iterable[str]]] = None,
        limit: Optional[int] = None,
        offset: Optional[int] = None,
    ) -> List[str]:
        """As :meth:`satchel.Records.ids`."""
        return await self._calls.read(lambda: self._blocking.ids(where, order_by, limit, offset))

    async def count(self, where: Optional[Mapping[str, Any]] = None) -> int:
        """As :meth:`satchel.Records.count`."""
        return await self._calls.read(lambda: self._blocking.count(where))

    def watch(
        self,
        where: Optional[Mapping[str, Any]] = None,
        order_by: Optional[Union[str, Iterable[str]]] = None,
        limit: Optional[int] = None,
        offset: Optional[int] = None,
    ) -> Watch[_Document]:
        """As :meth:`satchel.Records.watch`."""
        return Watch(self._calls, lambda: self._blocking.watch(where, order_by, limit, offset))

    async def put(
        self,
        id: str,
        document: Union[_Document, Any],
        *,
        if_revision: Optional[int] = None,
        deferred: bool = False,
        replace: bool = False,
    ) -> int:
        """As :meth:`satchel.Records.put`."""
        return await self._calls.write(
            lambda: self._blocking.put(
                id,
                document,
                if_revision=if_revision,
                deferred=deferred,
                replace=replace,
            )
        )

    @overload
    async def put_many(
        self,
        documents: Union[Mapping[str, Any], Iterable[Tuple[str, Union[_Document, Any]]]],
        *,
        skip_rejected: Literal[False] = False,
        replace: bool = False,
    ) -> int: ...

    @overload
    async def put_many(
        self,
        documents: Union[Mapping[str, Any], Iterable[Tuple[str, Union[_Document, Any]]]],
        *,
        skip_rejected: Literal[True],
        replace: bool = False,
    ) -> PutReport: ...

    async def put_many(
        self,
        documents: Union[Mapping[str, Any], Iterable[Tuple[str, Union[_Document, Any]]]],
        *,
        skip_rejected: bool = False,
        replace: bool = False,
    ) -> Union[int, PutReport]:
        """As :meth:`satchel.Records.put_many`."""
        method: Any = self._blocking.put_many
        return await self._calls.write(
            lambda: method(documents, skip_rejected=skip_rejected, replace=replace)
        )

    async def delete(self, id: str, *, if_revision: Optional[int] = None) -> bool:
        """As :meth:`satchel.Records.delete`."""
        return await self._calls.write(lambda: self._blocking.delete(id, if_revision=if_revision))

    async def update(self, id: str, patch: Mapping[str, Any], *, if_revision: Optional[int] = None) -> int:
        """As :meth:`satchel.Records.update`."""
        return await self._calls.write(lambda: self._blocking.update(id, patch, if_revision=if_revision))

    async def delete_many(self, ids: Iterable[str]) -> int:
        """As :meth:`satchel.Records.delete_many`."""
        return await self._calls.write(lambda: self._blocking.delete_many(ids))

    async def mirror(
        self,
        path: FilePath,
        prefer: Optional[str] = None,
        format: str = "plain",
        mode: str = "store_first",
        *,
        id_member: Optional[str] = None,
    ) -> MirrorReport:
        """As :meth:`satchel.Records.mirror`."""
        return await self._calls.write(
            lambda: self._blocking.mirror(path, prefer, format, mode, id_member=id_member)
        )

    async def verify_mirror(self) -> List[MirrorDifference]:
        """As :meth:`satchel.Records.verify_mirror`."""
        return await self._calls.write(lambda: self._blocking.verify_mirror())

    async def rebuild(self, which: str) -> int:
        """As :meth:`satchel.Records.rebuild`."""
        return await self._calls.write(lambda: self._blocking.rebuild(which))

    async def clear(self) -> int:
        """As :meth:`satchel.Records.clear`."""
        return await self._calls.write(lambda: self._blocking.clear())

    async def conflicts(self) -> List[ConflictEntry]:
        """As :meth:`satchel.Records.conflicts`."""
        return await self._calls.read(lambda: self._blocking.conflicts())

    async def resolve(
        self,
        conflict: Union[ConflictEntry, int],
        keep: Optional[str] = None,
        *,
        document: Any = _LEFT_OUT,
    ) -> None:
        """As :meth:`satchel.Records.resolve`."""
        await self._calls.write(lambda: self._blocking.resolve(conflict, keep, document=document))

    def __aiter__(self) -> AsyncIterator[Record[_Document]]:
        return self.iterate()
