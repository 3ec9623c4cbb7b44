"""The conflict log: versions that synchronizations and imports discarded, and those that wait."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Callable, Dict, List, Optional, Union

from satchel import _abi, _encoding
from satchel._documents import lend_json, text_of
from satchel._library import paged
from satchel.errors import code_of
from satchel.values import dataclass, moment, record_from

__all__ = ["ConflictEntry", "entries", "lend_resolution", "number_of"]

_PAGE = 1000


@dataclass(frozen=True)
class ConflictEntry:
    """A record or a photo of which a version was discarded, or is not applied.

    ``id`` is the number of the conflict, ``time`` the time of detection, in Unix milliseconds. ``subject`` is
    "records", with the ``collection`` and the ``record``'s id, or "photos", with the ``directory`` of the
    catalogue and the photo's ``md5``; the others are None. ``kind`` is "open" (it waits for ``resolve()``),
    "lost" (a version was discarded, by the policy, because of a relation or by an imported file) or
    "waiting"; photos have lost ones only. Of a lost one, ``side`` is the side that was discarded, "local" or
    "remote", as a whole or where both had changed the same member. A remote version that is waiting violates
    the schema, a unique index or a relation, or has a newer version: it is applied as soon as that allows it.
    Then ``code`` is that of the error, such as "ECONSTRAINT", and ``reason`` its message. ``cause`` is "sync"
    or "import". ``local``, ``remote`` and ``base`` are the local document or photo, the remote one, and the
    one synchronized last: dicts or :class:`~satchel.photos.Photo`, or None where it was deleted or did not
    exist; of a lost one, as they were then.
    """

    id: int
    subject: str
    kind: str
    time: int
    local: Any
    remote: Any
    base: Any
    cause: str
    collection: Optional[str] = None
    record: Optional[str] = None
    directory: Optional[str] = None
    md5: Optional[str] = None
    code: Optional[str] = None
    reason: Optional[str] = None
    side: Optional[str] = None

    @property
    def happened_at(self) -> datetime:
        """``time`` in UTC."""
        return moment(self.time)


def entries(read: Callable[[int, int], Dict[str, Any]]) -> List[ConflictEntry]:
    """All conflicts, oldest first.

    :param read: returns a page, after the conflict with the given number and of the given size
    """

    def page(after: int) -> Any:
        return read(after, _PAGE)

    return list(map(_entry, paged("conflicts", 0, page)))


def _entry(answer: Dict[str, Any]) -> ConflictEntry:
    if answer["subject"] == "photos":
        from satchel.photos._values import photo_from

        for side in ("local", "remote", "base"):
            answer[side] = answer[side] and photo_from(answer[side])
    code = answer.get("code")
    return record_from(ConflictEntry, answer, code=None if code is None else code_of(code))


def number_of(conflict: Union[ConflictEntry, int]) -> int:
    """The number of a conflict."""
    number = conflict.id if isinstance(conflict, ConflictEntry) else conflict
    return _encoding.whole(number, "conflict", -(2**63), 2**63 - 1)


def lend_resolution(keep: Any, document: Any) -> _abi.Bytes:
    """Encodes the resolution of a conflict; ``document`` is used when ``keep`` is None."""
    if keep is not None:
        return lend_json({"keep": keep}, "keep")
    return _encoding.lend(b'{"document":%b}' % text_of(document, "document"))
