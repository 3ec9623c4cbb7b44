"""Migrations by functions of the host, as the library calls them while a collection is opened."""

from __future__ import annotations

import contextlib
import ctypes
import json as _json
from typing import TYPE_CHECKING, Any, List, Optional

from satchel import _abi, _callbacks, _encoding
from satchel._handle import Handle
from satchel._library import library
from satchel._record_arguments import Migration
from satchel._record_documents import encoded
from satchel.errors import SatchelError

if TYPE_CHECKING:
    from satchel.store import Store

__all__ = ["opened"]


def opened(store: Store, declaration: _abi.Bytes, steps: Optional[List[Any]], redeclare: bool) -> Handle:
    """Opens a collection.

    :param steps: the migrations, of which the functions are called meanwhile
    :param redeclare: whether what is not declared is dropped
    :raises SatchelError: the exception of a function is its cause
    """
    options = _abi.RecordsOptions(size=ctypes.sizeof(_abi.RecordsOptions))
    run = _Run(steps or [], store._owner)
    context = _callbacks.register(run.migrate, store._owner)
    options.migrate, options.context = _on_migrate, context
    options.redeclare = redeclare
    try:
        return Handle.made_by(
            "collection", library.satchel_records_open, store._pointer, declaration, ctypes.byref(options)
        )
    except SatchelError as error:
        if run.raised is None:
            raise
        if not isinstance(run.raised, Exception):
            # KeyboardInterrupt and the like are not errors of the call.
            raise run.raised from None
        raise error from run.raised
    finally:
        _callbacks.release(context)


class _Run:
    """The functions of one opening, and what they raised."""

    def __init__(self, steps: List[Any], owner: int) -> None:
        self._steps = steps
        self._owner = owner
        self.raised: Optional[BaseException] = None

    def migrate(self, start: int, to: int, record: Any, answer: int) -> bool:
        """Migrates one record, for C; whether it could."""
        try:
            document = self._migrated(start, to, record["document"])
            text = encoded(document, f"what the migration from {start} to {to} returned")
        except BaseException as error:
            self.raised = error
            _say(answer, error)
            return False
        library.satchel_record_answer_document(answer, _encoding.lend(text))
        return True

    def _migrated(self, start: int, to: int, document: Any) -> Any:
        place = min(start, to) - 1
        step = self._steps[place] if 0 <= place < len(self._steps) else None
        function = None
        if isinstance(step, Migration):
            function = step.forward if to > start else step.back
        if function is None:
            raise LookupError(f"there is no function from version {start} to {to}")
        with _callbacks.entered(self._owner):
            migrated = function(document)
        if migrated is None:
            raise TypeError("a migration must return the document, not None")
        return migrated


def _say(answer: int, error: BaseException) -> None:
    # A failure to describe the error must not replace it.
    with contextlib.suppress(Exception):
        text = f"{type(error).__name__}: {error}".encode("utf-8", "replace")
        library.satchel_record_answer_message(answer, _encoding.lend(text[:1000]))


def _migrate(context: Optional[int], start: int, to: int, record: Any, answer: int) -> bool:
    # No exception may cross C; it means that the record could not be migrated.
    try:
        function, _ = _callbacks.lookup(context)
        if function is None:
            return False
        return bool(function(start, to, _json.loads(_callbacks.bytes_of(record)), answer))
    except BaseException:
        return False


_on_migrate = _abi.RecordMigration(_migrate)
