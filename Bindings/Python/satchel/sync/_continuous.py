"""Keeping a store in sync."""

from __future__ import annotations

import contextlib
import ctypes
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Callable, Dict, Optional

from satchel import _abi, _callbacks, _encoding
from satchel._handles import Dependent, Handle
from satchel._library import check, json_answer, library
from satchel.errors import SatchelError, error_for
from satchel.sync._values import StoreSyncReport, report_from
from satchel.values import dataclass, moment, record_from

if TYPE_CHECKING:
    from satchel.catalogue._refreshing import Network
    from satchel.remote import Remote
    from satchel.remote._host import Failures
    from satchel.sync import SyncingStore

__all__ = ["ContinuousSync", "ContinuousSyncStatus"]


@dataclass(frozen=True)
class ContinuousSyncStatus:
    """The state of a store that is kept in sync.

    ``state`` is "idle": the next synchronization is due after a commit or the interval; "syncing"; "waiting":
    the last one failed, and is tried again; "held": there is no network; or "ended". ``last_sync`` is when it
    synchronized last, and ``next_at`` when the next one is due without commits, in Unix milliseconds or None.
    ``failures`` counts the attempts that failed since the last success; ``error`` is the cause of the last
    failure, or of the end, or None. ``report`` is that of the last synchronization; None after a failure.
    """

    state: str
    last_sync: Optional[int]
    next_at: Optional[int]
    failures: int
    error: Optional[SatchelError]
    report: Optional[StoreSyncReport]

    @property
    def last_sync_at(self) -> Optional[datetime]:
        """``last_sync`` in UTC."""
        return None if self.last_sync is None else moment(self.last_sync)


class ContinuousSync(Dependent):
    """Keeps a store in sync; made by :meth:`satchel.Store.run_sync`, which the store keeps.

    It ends with :meth:`close`, at the end of a ``with`` block, with the store, and when
    :meth:`satchel.Store.sign_out`, ``detach`` or ``delete_account`` end the binding to the user.

    The methods may be called on any thread.
    """

    __slots__ = ("_failures", "_family", "_listening")

    def __init__(
        self,
        store: SyncingStore,
        remote: Remote,
        user: str,
        options: _abi.StoreSyncOptions,
        every: Optional[int],
        network: Optional[Callable[[], Network]],
        callback: Optional[Callable[[ContinuousSyncStatus], object]],
    ) -> None:
        from satchel.catalogue._refreshing import set_network
        from satchel.remote import remote_of
        from satchel.remote._host import Failures

        continuous = _abi.ContinuousSyncOptions(
            every=0 if every is None else _encoding.whole(every, "every", 1, 31_536_000)
        )
        failures = Failures(store._work(None))
        function, context = _callbacks.no_status, 0
        arguments = store._pointer, remote_of(remote)._pointer, _encoding.lend_text(user, "user")
        set_network(continuous, network)
        if callback is not None:
            _encoding.check_callable(callback, "callback")
            # No reference to this object: the library keeps the function until the object is closed.
            function, context = (
                _callbacks.on_status,
                _callbacks.register(partial(_tell, callback, failures), store._owner),
            )
        with contextlib.ExitStack() as listening:
            if remote._host is not None:
                listening.enter_context(remote._host.observed_by(failures))
            handle = Handle.made_by(
                "continuous sync",
                library.satchel_store_run_sync,
                *arguments,
                ctypes.byref(options),
                ctypes.byref(continuous),
                function,
                context,
                _callbacks.on_release,
            )
            self._listening = listening.pop_all()
        super().__init__(handle, store._owner, library.satchel_continuous_sync_free)
        self._failures = failures
        # Kept by the store: it goes on without a reference to it.
        self._family = store._observers
        self._family.add(self)

    def request(self) -> None:
        """Synchronizes as soon as possible, also before the time that follows a failure.

        Such as when the network is back, or the app comes to the foreground. Does not wait for it.

        :raises Closed: after its end
        """
        check(library.satchel_continuous_sync_request(self._handle.pointer))

    def status(self) -> ContinuousSyncStatus:
        """The present state, without waiting for a synchronization.

        :raises Closed: after :meth:`close`
        """
        found = json_answer(library.satchel_continuous_sync_status, self._handle.pointer)
        return _status(found, self._failures)

    def close(self) -> None:
        """Ends it: cancels a synchronization in progress, and waits for its end; idempotent.

        Called from a callback of its store, for which it would wait, it ends on another thread.
        """
        self._family.discard(self)
        super().close()
        self._listening.close()


def _status(found: Dict[str, Any], failures: Failures) -> ContinuousSyncStatus:
    """A state with its parts.

    :param failures: the exceptions of a host's functions, of which the last one is the cause of an error
    """
    from satchel.photos._reports import causes_of

    report = found["report"]
    error: Optional[SatchelError] = None
    if found["error"] is not None:
        error = error_for(found["error"]["code"], "", found["error"]["message"])
        error.__cause__ = failures.last
    return record_from(
        ContinuousSyncStatus,
        found,
        error=error,
        report=None if report is None else report_from(report, causes_of(failures)),
    )


def _tell(
    callback: Callable[[ContinuousSyncStatus], object], failures: Failures, found: Dict[str, Any]
) -> None:
    callback(_status(found, failures))
