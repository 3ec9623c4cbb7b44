"""Object stores that stores and photo catalogues are synchronized with.

A remote is a directory, a bucket of an S3-compatible service, or a set of your own functions. Constructing
one does not use the network. One remote serves any number of stores and threads; it is closed by
:meth:`Remote.close`, or when it is collected. Make remotes after ``fork``.

>>> remote = satchel.remote.S3(bucket="photos", endpoint="https://s3.example.org", region="eu-central-1")
>>> report = store.sync(remote, "ada")
"""

from __future__ import annotations

import ctypes
import os
from typing import Any, Callable, Dict, Optional, Tuple
from urllib.parse import urlsplit

from satchel import _abi, _callbacks, _encoding
from satchel._encoding import FilePath
from satchel._handles import Closing, Handle
from satchel._library import json_answer, library
from satchel._long_work import LongWork, with_progress
from satchel.errors import Closed, InvalidArgument, SatchelError
from satchel.remote._host import Failures, Host, give_credentials, operations
from satchel.remote._objects import RemoteObjects
from satchel.remote._values import (
    NOT_MODIFIED,
    AccessDenied,
    Credentials,
    NotModified,
    PreconditionFailed,
    Probe,
    RemoteEntry,
    RemoteError,
    RemoteHead,
    RemoteObject,
    RemotePage,
    RemoteRange,
    SyncProgress,
    TransientError,
    UnknownOutcome,
)
from satchel.values import record_from

__all__ = [
    "NOT_MODIFIED",
    "S3",
    "AccessDenied",
    "Callbacks",
    "Credentials",
    "Directory",
    "NotModified",
    "PreconditionFailed",
    "Probe",
    "Remote",
    "RemoteEntry",
    "RemoteError",
    "RemoteHead",
    "RemoteObject",
    "RemotePage",
    "RemoteRange",
    "SyncProgress",
    "TransientError",
    "UnknownOutcome",
]


class Remote(RemoteObjects, Closing):
    """The client of an object store: :class:`Directory`, :class:`S3` or :class:`Callbacks`.

    ``get``, ``put``, ``head``, ``delete`` and ``list`` are for objects of your own: keys that begin with
    "catalogs/", "photos/" and "sync/" are the library's, and must not be written.
    """

    __slots__ = ("_host", "_process")

    def __init__(self, handle: Handle, host: Optional[Host] = None) -> None:
        self._handle = handle
        self._host = host
        self._process = os.getpid()

    def probe(self, prefix: str = "") -> Probe:
        """Measures what the object store can do: above all conditional writes, which prevent lost updates.

        Writes objects of its own, and removes them again: some twenty requests. A sequential probe cannot
        detect conditions that are not atomic: the guide lists the suitable servers.

        :param prefix: begins the keys of the objects, "" or "catalogs/"
        :returns: true when conditional writes are supported; otherwise ``.reason`` is what the store did
        :raises Unauthorized: when the remote rejects the credentials
        :raises Unavailable: when the remote cannot be reached
        :raises SatchelError: when a request fails otherwise; an exception of a function of
            :class:`Callbacks` is the cause
        """
        lent = _encoding.lend_text(prefix, "prefix")
        pointer = self._pointer
        work = LongWork(0)
        answered = self._at_work(
            work, lambda *_: json_answer(library.satchel_remote_probe, pointer, lent), Failures(work)
        )
        return record_from(Probe, answered)

    def close(self) -> None:
        """Closes the client; idempotent. Running calls are finished."""
        pointer = self._handle.release()
        # In a forked child the handle belongs to the parent.
        if pointer is not None and self._process == os.getpid():
            library.satchel_remote_free(pointer)

    @property
    def _pointer(self) -> int:
        if self._process != os.getpid():
            raise Closed("the remote was made before this process was forked")
        return self._handle.pointer

    def _at_work(self, work: LongWork, call: Callable[[Any, int], Any], failures: Failures) -> Any:
        """Makes a call that uses this remote; an exception of a host function is the cause of its error."""
        host = self._host
        if host is None:
            return work.run(call)

        def observed(on_progress: Any, context: int) -> Any:
            with host.observed_by(failures):
                return call(on_progress, context)

        try:
            return work.run(observed)
        except SatchelError as error:
            if failures.last is None:
                raise
            raise error from failures.last

    def __del__(self) -> None:
        # An object whose constructor failed has no handle.
        if hasattr(self, "_handle"):
            self.close()

    def __repr__(self) -> str:
        return f"<satchel.remote.{type(self).__name__}{self._about()}{', closed' if self.closed else ''}>"

    def _about(self) -> str:
        return ""


class Directory(Remote):
    """A directory as object store: for tests, for one machine, for a disk that several machines mount.

    The first write creates it. A random id in it tells devices that were synchronized with it from another
    directory at the same path.

    :param path: its parent must exist. On a network disk flock() must work
    :raises NotFound: when its parent does not exist
    :raises ReadOnly, IOFailure, InvalidArgument: see their classes
    """

    __slots__ = ("_path",)

    def __init__(self, path: FilePath) -> None:
        self._path, folder = _encoding.file_path(path, "path")
        super().__init__(Handle.made_by("remote", library.satchel_remote_directory, _encoding.lend(folder)))

    @property
    def path(self) -> str:
        """The path, as passed in."""
        return self._path

    def _about(self) -> str:
        return f" {self._path!r}"


class S3(Remote):
    """A bucket of an S3-compatible store, over HTTPS.

    At most one of ``access_key``, ``credentials`` and ``profile`` is given. Without them the credentials are
    those of AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, else those of the profile
    AWS_PROFILE, or "default", of ~/.aws/credentials and ~/.aws/config. When the store says that they have
    expired or are not known, the function, the environment or the files are asked again, and the request is
    repeated. Other options that are left out come from AWS_REGION, AWS_DEFAULT_REGION, AWS_ENDPOINT_URL_S3
    and AWS_ENDPOINT_URL, and from the profile. Certificates are verified. Over http:// the secret key is not
    sent, but contents can be read and changed in transit: use it for tests and closed networks only. Messages
    and ``repr`` never contain credentials.

    :param bucket: its name
    :param endpoint: such as "https://s3.example.org"; AWS by default
    :param region: such as "eu-central-1"
    :param access_key: the id of the access key
    :param secret_key: the secret of the access key
    :param session_token: of temporary credentials
    :param credentials: ``credentials()`` returns :class:`Credentials`. It is asked at the first request, a
        minute before they expire, and when the store does not accept them: from any thread, one call at a
        time. It must not use this remote. An exception in it is the cause of that of the running call
    :param profile: a section of ~/.aws/credentials and ~/.aws/config
    :param prefix: begins every key, such as "apps/album/"
    :param path_style: puts the bucket into the path instead of the host name; None for the host name with
        AWS and the path elsewhere
    :param ca_file: certificates to trust instead of the system's, in PEM
    :param connect_timeout: seconds to wait for a connection
    :param stall_timeout: seconds without a byte after which a request fails
    :param total_timeout: seconds for a whole request
    :param proxy: such as "http://proxy.example.org:3128"; None for that of HTTPS_PROXY, except for this
        machine and hosts of NO_PROXY; "" for none
    :param storage_class: of the files of photos that are uploaded, such as "STANDARD_IA". What each
        synchronization reads has the bucket's own
    :param encryption: by the store: "AES256" or "aws:kms"
    :param encryption_key: the key of "aws:kms"
    :raises InvalidArgument: names the option
    """

    __slots__ = ("_bucket", "_endpoint")

    def __init__(
        self,
        *,
        bucket: str,
        endpoint: Optional[str] = None,
        region: Optional[str] = None,
        access_key: Optional[str] = None,
        secret_key: Optional[str] = None,
        session_token: Optional[str] = None,
        credentials: Optional[Callable[[], Credentials]] = None,
        profile: Optional[str] = None,
        prefix: Optional[str] = None,
        path_style: Optional[bool] = None,
        ca_file: Optional[FilePath] = None,
        connect_timeout: Optional[float] = None,
        stall_timeout: Optional[float] = None,
        total_timeout: Optional[float] = None,
        proxy: Optional[str] = None,
        storage_class: Optional[str] = None,
        encryption: Optional[str] = None,
        encryption_key: Optional[str] = None,
    ) -> None:
        texts = {
            "bucket": bucket,
            "endpoint": endpoint,
            "region": region,
            "access_key": access_key,
            "secret_key": secret_key,
            "session_token": session_token,
            "profile": profile,
            "prefix": prefix,
            "proxy": proxy,
            "storage_class": storage_class,
            "encryption": encryption,
            "encryption_key": encryption_key,
        }
        for name, value in texts.items():
            if value is not None:
                _encoding.lend_text(value, name)
        waits = {"connect": connect_timeout, "stall": stall_timeout, "total": total_timeout}
        timeouts = {
            name: _encoding.timeout(seconds, f"{name}_timeout", 1, 2**31 - 1)
            for name, seconds in waits.items()
            if seconds is not None
        }
        options: Dict[str, Any] = {
            **texts,
            "path_style": None if path_style is None else bool(path_style),
            "ca_file": None if ca_file is None else _encoding.file_path(ca_file, "ca_file")[0],
            "timeouts": timeouts or None,
        }
        lent = _encoding.lend_given(options, "options")
        self._bucket = bucket
        self._endpoint = _without_user(endpoint)
        host = None
        function: Tuple[Any, ...] = (_abi.RemoteCredentialsCallback(), None, _abi.Release())
        if credentials is not None:
            _encoding.check_callable(credentials, "credentials")
            host = Host({"credentials": lambda _: credentials()})
            function = (give_credentials, _callbacks.register(host.request, 0), _callbacks.on_release)
        super().__init__(Handle.made_by("remote", library.satchel_remote_s3, lent, *function), host)

    @property
    def bucket(self) -> str:
        """The bucket's name."""
        return self._bucket

    def _about(self) -> str:
        return f" {self._bucket!r}" + (f" at {self._endpoint!r}" if self._endpoint else "")


class Callbacks(Remote):
    """An object store of your own, as five functions. They are called from any thread, several at once.

    Conditional writes must be atomic: of several concurrent ones with the same condition, exactly one takes
    effect. Reads must see every write that returned before.

    :param get: ``get(key, if_none_match=None)`` returns a :class:`RemoteObject`, or :data:`NOT_MODIFIED`
        when the object still has that etag
    :param put: ``put(key, body, if_match=None, if_absent=False, metadata={})`` writes the object as a whole
        and returns its etag. ``if_match``: the etag that the object must have; ``if_absent``: it must not
        exist; otherwise it raises :class:`PreconditionFailed`. ``metadata``, a dict of strings, is stored
        with it
    :param head: ``head(key)`` returns a :class:`RemoteHead`
    :param delete: ``delete(key, if_match=None)``; without a condition, a missing object is not a failure
    :param list: ``list(prefix, after=None, limit=1000)`` returns the objects whose keys have the prefix
        and follow ``after``, at most ``limit``, in the order of the keys' bytes: a :class:`RemotePage` of
        :class:`RemoteEntry`, or a list of them when no more follow
    :param identity: names the object store, in at most 1,024 bytes of UTF-8: the same text always means the
        same objects. ``store.sync`` requires it; photos alone can be synchronized without
    :param get_range: optional, as the next two: all three or none. With them a photo file may be larger
        than 1 GiB, and 8 MiB of it is in memory. ``get_range(key, offset, length, if_match=None)`` returns
        a :class:`RemoteRange` of up to ``length`` bytes
    :param put_part: ``put_part(key, upload, number, body)`` keeps a part of an upload that the library has
        named, or replaces the one of that number, from 1
    :param complete: ``complete(key, upload, parts, if_match=None, if_absent=False, metadata={})`` makes an
        object of the parts 1 to ``parts``, as ``put`` of their bytes, and returns its etag. With 0 parts it
        discards the upload, and returns None

    KeyError (or FileNotFoundError) means that the object does not exist; see also :class:`TransientError`,
    :class:`UnknownOutcome` and :class:`AccessDenied`. ConnectionError and TimeoutError are retried: reads at
    once, writes after reading the object. Any other exception, or a result of another type, fails the
    request, and is the ``__cause__`` of the exception of the running call, or the ``cause`` of the shard in
    its report. KeyboardInterrupt and the like end that call, which raises them.
    """

    __slots__ = ()

    def __init__(
        self,
        get: Callable[..., Any],
        put: Callable[..., str],
        head: Callable[..., Any],
        delete: Callable[..., None],
        list: Callable[..., Any],
        identity: Optional[str] = None,
        get_range: Optional[Callable[..., Any]] = None,
        put_part: Optional[Callable[..., None]] = None,
        complete: Optional[Callable[..., Optional[str]]] = None,
    ) -> None:
        functions: Dict[str, Callable[..., Any]] = {
            "get": get,
            "put": put,
            "head": head,
            "delete": delete,
            "list": list,
        }
        transfers = {"get_range": get_range, "put_part": put_part, "complete": complete}
        set_ = {name: function for name, function in transfers.items() if function is not None}
        if len(set_) not in (0, len(transfers)):
            raise InvalidArgument("get_range, put_part and complete are given together, or not at all")
        functions.update(set_)
        for name, function in functions.items():
            _encoding.check_callable(function, name)
        named = _encoding.NOTHING if identity is None else _encoding.lend_text(identity, "identity")
        host = Host(functions)
        handle = Handle.made_by(
            "remote",
            library.satchel_remote_callbacks,
            ctypes.byref(operations(named, bool(set_))),
            _callbacks.register(host.request, 0),
            _callbacks.on_release,
        )
        super().__init__(handle, host)


def _without_user(endpoint: Optional[str]) -> Optional[str]:
    """A URL without user name, password and query."""
    if endpoint is None:
        return None
    try:
        parts = urlsplit(endpoint)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
    except ValueError:
        return None


def remote_of(remote: Any) -> Remote:
    """A remote that was passed.

    :raises InvalidArgument: for another value, such as a path
    """
    if not isinstance(remote, Remote):
        kind = type(remote).__name__
        raise InvalidArgument(f"remote must be one of satchel.remote, such as Directory(path), not {kind}")
    return remote


def work_with(
    remote: Any,
    user: str,
    work: LongWork,
    function: Callable[..., int],
    pointer: int,
    options: Any,
) -> Tuple[Any, Failures]:
    """Synchronizes or verifies with a remote.

    :param work: the long work that the call is
    :param function: of the library; its parameters are ``pointer``, the remote, the user and the options
    :returns: the report as JSON, and the exceptions of the host's functions
    """
    lent = remote_of(remote)._pointer, _encoding.lend_text(user, "user")
    call = with_progress(options, function, pointer, *lent)
    failures = Failures(work)
    return remote._at_work(work, call, failures), failures
