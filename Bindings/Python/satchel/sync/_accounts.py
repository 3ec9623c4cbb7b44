"""The end of a user's session, and of an account."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Optional

from satchel import _abi, _encoding
from satchel._library import library
from satchel._long_work import with_progress
from satchel.errors import InvalidArgument
from satchel.sync import SyncingStore
from satchel.sync._values import AccountDeletionReport, StoreSyncReport, report_from
from satchel.values import record_from

if TYPE_CHECKING:
    from satchel.remote import Remote, SyncProgress


class StoreAccounts(SyncingStore):
    """The part of :class:`satchel.Store` that ends sessions and accounts."""

    def sign_out(
        self,
        remote: Optional[Remote] = None,
        *,
        key: Optional[bytes] = None,
        unsent: str = "refuse",
        progress: Optional[Callable[[SyncProgress], object]] = None,
    ) -> Optional[StoreSyncReport]:
        """Ends the session of the user whom the content belongs to.

        Synchronizes with the remote first, if there is one, unbinds the store, and removes what is the
        user's: all records with their conflicts, the state that is marked with ``synced=True``, sensitive
        state, the rows of photo catalogues that were synchronized, the reader's progress, purchases, the
        outbox file, and the keys of ``state.set_key``. Their bytes leave the file and its WAL. What is the
        device's or the app's stays: the catalogue, other state, photo catalogues that were never
        synchronized, declarations, and the files of photos. The files of mirrors are written empty. Nothing
        is synchronized as a deletion. Handles stay usable, and live queries and observers are notified.

        What is left to do after a crash is completed by any later call, of any process, or when the store is
        opened.

        :param remote: is synchronized with as the owner; None synchronizes nothing
        :param key: as for :meth:`sync`
        :param unsent: "refuse": fails while there are changes that were never sent; "discard": they are lost
        :param progress: as for :meth:`sync`
        :returns: the report of the synchronization; None without one
        :raises Conflict: names the number of changes that were never sent; nothing is removed
        :raises InvalidArgument: in a batch
        :raises Busy: when the user is signed out, and bytes are left in the WAL because another handle reads
            or writes: call it again; and as :meth:`sync`
        :raises ForeignFile, Damaged, NewerStore, Unauthorized, Unavailable, Cancelled, ReadOnly: as
            :meth:`sync`
        """
        from satchel.photos._reports import causes_of
        from satchel.remote import remote_of
        from satchel.remote._host import Failures

        if unsent not in ("refuse", "discard"):
            raise InvalidArgument(f'unsent: {unsent!r} is neither "refuse" nor "discard"')
        pointer = self._pointer
        self._refuse_in_batch("a store cannot be signed out in a batch")
        options = _abi.StoreSyncOptions()
        if key is not None:
            options.key = _encoding.lend_key(key)
        discards = unsent == "discard"

        def function(store: int, remote: Optional[int], options: Any, out: Any) -> int:
            return int(library.satchel_store_sign_out(store, remote, options, discards, out))

        work = self._work(progress)
        failures = Failures(work)
        if remote is None:
            report = work.run(with_progress(options, function, pointer, None))
        else:
            call = with_progress(options, function, pointer, remote_of(remote)._pointer)
            report = remote._at_work(work, call, failures)
        return None if report is None else report_from(report, causes_of(failures))

    def delete_account(
        self,
        remote: Remote,
        user: str,
        *,
        progress: Optional[Callable[[SyncProgress], object]] = None,
    ) -> AccountDeletionReport:
        """Deletes everything that a user has in a remote, photos included.

        Closes the account first, so that no device writes to it again, and then deletes all other objects of
        the user. Local content stays: :meth:`sign_out` removes it. On a device that meets the closed account,
        :meth:`sync` raises ForeignFile and changes nothing in the remote; only ``sync(first="upload")`` opens
        it again. Other programs do not know that the photo catalogue is closed, and may write to it. A call
        that was interrupted can be repeated.

        :param remote: as for :meth:`sync`
        :param user: as for :meth:`sync`
        :param progress: as for :meth:`sync`
        :raises ForeignFile: for another user than the owner of the store's content
        :raises InvalidArgument: for an invalid user; for a remote without conditional writes, or without an
            identity; in a batch
        :raises NewerStore, Unauthorized, Unavailable, Busy, Cancelled, ReadOnly: as :meth:`sync`
        """
        from satchel.remote import work_with

        pointer = self._pointer
        self._refuse_in_batch("an account cannot be deleted in a batch")
        work = self._work(progress)
        function = library.satchel_store_delete_account
        report, _ = work_with(remote, user, work, function, pointer, _abi.StoreSyncOptions())
        return record_from(AccountDeletionReport, report)
