"""Object stores: where the master copies of photo catalogues and records are.

A remote says how a store is reached: a directory, a bucket of an S3-compatible service, or functions of
your own. Making one does not touch the network. One remote serves any number of catalogues and
threads; it ends with :meth:`Remote.close`, or when it is collected. Make remotes after ``fork``.

>>> remote = satchel.remote.S3(bucket="photos", endpoint="https://s3.example.org", region="eu-central-1")
>>> report = store.photos("/home/ada/Pictures").sync(remote, "ada")
"""

from __future__ import annotations

import ctypes
import math
import os
from typing import Any, Callable, Dict, Optional, Union
from urllib.parse import urlsplit

from satchel import _callbacks, _encoding
from satchel._handle import Closing, Handle, json_answer
from satchel._library import library
from satchel._long_work import LongWork
from satchel._remote_host import Failures, Host, operations
from satchel._remote_values import (
    NOT_MODIFIED,
    AccessDenied,
    NotModified,
    PreconditionFailed,
    Probe,
    RemoteEntry,
    RemoteError,
    RemoteHead,
    RemoteObject,
    RemotePage,
    TransientError,
    UnknownOutcome,
)
from satchel.errors import Closed, InvalidArgument, SatchelError
from satchel.values import record_from

__all__ = [
    "NOT_MODIFIED",
    "S3",
    "AccessDenied",
    "Callbacks",
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
    "TransientError",
    "UnknownOutcome",
]


class Remote(Closing):
    """An object store, as this side sees it: :class:`Directory`, :class:`S3` or :class:`Callbacks`."""

    __slots__ = ("_host", "_process")

    def __init__(self, handle: Handle, host: Optional[Host] = None) -> None:
        self._handle = handle
        self._host = host
        self._process = os.getpid()

    def probe(self, prefix: str = "") -> Probe:
        """Finds out whether the store honours conditions on writes, on which no lost update depends.

        Writes an object of its own below ``prefix`` ("" or "catalogs/"), and removes it again. A probe in
        sequence cannot find a store whose conditions are not atomic: the guide lists which are good.

        :returns: true when they are honoured; else ``.reason`` says what the store did
        :raises SatchelError: when it does not answer; what a function of :class:`Callbacks` raised is the
            cause
        """
        lent = _encoding.lend_text(prefix, "prefix")
        pointer = self._pointer
        answered = self._at_work(
            LongWork(0), lambda *_: json_answer(library.satchel_remote_probe, pointer, lent), Failures()
        )
        return record_from(Probe, answered)

    def close(self) -> None:
        """Lets go of the store; a second time is fine. What is under way goes on to its end."""
        pointer = self._handle.give_away()
        # In a forked child the handle belongs to the parent.
        if pointer is not None and self._process == os.getpid():
            library.satchel_remote_free(pointer)

    @property
    def _pointer(self) -> int:
        if self._process != os.getpid():
            raise Closed("the remote was made before this process was forked")
        return self._handle.pointer

    def _at_work(self, work: LongWork, call: Callable[[Any, int], Any], failures: Failures) -> Any:
        """Makes a call that uses this remote; what a host's function raised is the cause of its error."""
        host = self._host
        if host is None:
            return work.run(call)

        def heard(on_progress: Any, context: int) -> Any:
            with host.heard_by(failures):
                return call(on_progress, context)

        try:
            return work.run(heard)
        except SatchelError as error:
            if failures.last is None:
                raise
            raise error from failures.last

    def __del__(self) -> None:
        # One whose making failed has no handle.
        if hasattr(self, "_handle"):
            self.close()

    def __repr__(self) -> str:
        return f"<satchel.remote.{type(self).__name__}{self._about()}{', closed' if self.closed else ''}>"

    def _about(self) -> str:
        return ""


class Directory(Remote):
    """A directory as object store: for tests, for one machine, for disks that several machines mount.

    :param path: made when its parent exists. On a network disk flock() has to work
    :raises NotFound: without a parent
    :raises ReadOnly, IOFailure, InvalidArgument: as their names say
    """

    __slots__ = ("_path",)

    def __init__(self, path: Union[str, os.PathLike[str]]) -> None:
        self._path, folder = _encoding.file_path(path, "path")
        super().__init__(Handle.made_by("remote", library.satchel_remote_directory, _encoding.lend(folder)))

    @property
    def path(self) -> str:
        """The path as it was given."""
        return self._path

    def _about(self) -> str:
        return f" {self._path!r}"


class S3(Remote):
    """A bucket of an S3-compatible store, over HTTPS.

    What is left out comes from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION,
    AWS_DEFAULT_REGION, AWS_ENDPOINT_URL_S3 and AWS_ENDPOINT_URL. Certificates are verified. Over http://
    secrets are not sent, but contents can be read and changed on the way: for tests and closed networks
    only. Credentials are in no message, and not in ``repr``.

    :param bucket: its name
    :param endpoint: such as "https://s3.example.org"; AWS when it is nowhere
    :param region: such as "eu-central-1"
    :param prefix: begins every key, such as "apps/album/"
    :param path_style: the bucket in the path and not in the host's name; None for what the endpoint wants:
        the path, unless it is AWS
    :param ca_file: certificates to trust instead of the system's, in PEM
    :param connect_timeout: seconds to wait for a connection
    :param stall_timeout: seconds without one byte after which a request has failed
    :param total_timeout: seconds for a whole request
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
        prefix: Optional[str] = None,
        path_style: Optional[bool] = None,
        ca_file: Optional[Union[str, os.PathLike[str]]] = None,
        connect_timeout: Optional[float] = None,
        stall_timeout: Optional[float] = None,
        total_timeout: Optional[float] = None,
    ) -> None:
        texts = {
            "bucket": bucket,
            "endpoint": endpoint,
            "region": region,
            "access_key": access_key,
            "secret_key": secret_key,
            "session_token": session_token,
            "prefix": prefix,
        }
        for name, value in texts.items():
            if value is not None:
                _encoding.lend_text(value, name)
        waits = {"connect": connect_timeout, "stall": stall_timeout, "total": total_timeout}
        timeouts = {
            name: _milliseconds(value, f"{name}_timeout")
            for name, value in waits.items()
            if value is not None
        }
        options: Dict[str, Any] = {
            **texts,
            "path_style": None if path_style is None else bool(path_style),
            "ca_file": None if ca_file is None else _encoding.file_path(ca_file, "ca_file")[0],
            "timeouts": timeouts or None,
        }
        given = {name: value for name, value in options.items() if value is not None}
        lent = _encoding.lend_value(given, "options")
        self._bucket = bucket
        self._endpoint = _without_user(endpoint)
        super().__init__(Handle.made_by("remote", library.satchel_remote_s3, lent))

    @property
    def bucket(self) -> str:
        """The bucket's name."""
        return self._bucket

    def _about(self) -> str:
        return f" {self._bucket!r}" + (f" at {self._endpoint!r}" if self._endpoint else "")


class Callbacks(Remote):
    """An object store of your own, as five functions. They are called from any thread, several at once.

    Conditional writes must be atomic: of many at once with one condition, exactly one takes effect. Reads
    see every write that returned before.

    :param get: ``get(key, if_none_match=None)`` returns a :class:`RemoteObject`, or :data:`NOT_MODIFIED`
        when the object still has that tag
    :param put: ``put(key, body, if_match=None, if_absent=False, metadata={})`` writes the object as a whole
        and returns its tag. ``if_match``: the tag that the object must have; ``if_absent``: there must be
        none; else it raises :class:`PreconditionFailed`. ``metadata``, a dict of texts, is kept with it
    :param head: ``head(key)`` returns a :class:`RemoteHead`
    :param delete: ``delete(key, if_match=None)``; that there is no object is no failure without a condition
    :param list: ``list(prefix, after=None, limit=1000)`` returns the objects whose keys begin so and come
        behind ``after``, at most so many, in the order of the keys' bytes: a :class:`RemotePage` of
        :class:`RemoteEntry`, or a list of them when no more follow

    KeyError (or FileNotFoundError) says that there is no such object; :class:`TransientError`,
    :class:`UnknownOutcome` and :class:`AccessDenied` say what they say. ConnectionError and TimeoutError are
    tried again: reads at once, writes after reading back. Anything else that a function raises, or a result
    of another kind, fails the request, and is the ``__cause__`` of what the call at work raises, or the
    ``cause`` of the shard in its report. KeyboardInterrupt and the like end that call, which raises them.
    """

    __slots__ = ()

    def __init__(
        self,
        get: Callable[..., Any],
        put: Callable[..., str],
        head: Callable[..., Any],
        delete: Callable[..., None],
        list: Callable[..., Any],
    ) -> None:
        functions = {"get": get, "put": put, "head": head, "delete": delete, "list": list}
        for name, function in functions.items():
            if not callable(function):
                raise InvalidArgument(f"{name} must be callable, not {type(function).__name__}")
        host = Host(functions)
        handle = Handle.made_by(
            "remote",
            library.satchel_remote_callbacks,
            ctypes.byref(operations),
            _callbacks.register(host.request, 0),
            _callbacks.on_release,
        )
        super().__init__(handle, host)


def _milliseconds(seconds: Any, name: str) -> int:
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds < 2**31 / 1000:
        raise InvalidArgument(f"{name} must be from 0 to 2147483 seconds, not {seconds!r}")
    return math.ceil(seconds * 1000)


def _without_user(endpoint: Optional[str]) -> Optional[str]:
    """An address less the name and password that may stand in it."""
    if endpoint is None:
        return None
    try:
        parts = urlsplit(endpoint)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
    except ValueError:
        return None
