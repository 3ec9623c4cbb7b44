"""An object store in a dict, as a host would write one, and ways for it to go wrong."""

from __future__ import annotations

import hashlib
import threading
import uuid
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Union

from satchel.remote import (
    NOT_MODIFIED,
    Callbacks,
    NotModified,
    PreconditionFailed,
    RemoteEntry,
    RemoteHead,
    RemoteObject,
    RemotePage,
    RemoteRange,
)


class DictStore:
    """Objects in memory, with conditions; counts the calls, and fails when a test says so."""

    def __init__(self) -> None:
        self.objects: Dict[str, RemoteObject] = {}
        self.identity = f"dict:{uuid.uuid4().hex}"
        self.calls: List[Tuple[str, str]] = []
        self.parts: Dict[Tuple[str, int], bytes] = {}
        self.lock = threading.Lock()
        # Asked before each request; what it raises is raised, what it returns (unless None) is returned.
        self.before: Callable[[str, str], Any] = lambda operation, key: None
        # The same, after the request has taken effect.
        self.after: Callable[[str, str], Any] = lambda operation, key: None

    def remote(self, parts: bool = False) -> Callbacks:
        functions = (self.get, self.put, self.head, self.delete, self.list)
        if not parts:
            return Callbacks(*functions, identity=self.identity)
        more = {"get_range": self.get_range, "put_part": self.put_part, "complete": self.complete}
        return Callbacks(*functions, identity=self.identity, **more)

    def _request(self, operation: str, key: str, act: Callable[[], Any]) -> Any:
        self.calls.append((operation, key))
        answer = self.before(operation, key)
        if answer is not None:
            return answer
        with self.lock:
            result = act()
        answer = self.after(operation, key)
        return result if answer is None else answer

    def get(self, key: str, if_none_match: Optional[str] = None) -> Union[RemoteObject, NotModified]:
        def act() -> Union[RemoteObject, NotModified]:
            found = self.objects[key]
            return NOT_MODIFIED if found.etag == if_none_match else found

        return self._request("get", key, act)  # type: ignore[no-any-return]

    def put(
        self,
        key: str,
        body: bytes,
        if_match: Optional[str] = None,
        if_absent: bool = False,
        metadata: Optional[Mapping[str, str]] = None,
    ) -> str:
        def act() -> str:
            self._expect(key, if_match)
            if if_absent and key in self.objects:
                raise PreconditionFailed(f"{key} is there")
            tag = f'"{hashlib.sha1(body).hexdigest()}-{len(self.calls)}"'
            self.objects[key] = RemoteObject(body, tag, dict(metadata or {}))
            return tag

        return self._request("put", key, act)  # type: ignore[no-any-return]

    def get_range(self, key: str, offset: int, length: int, if_match: Optional[str] = None) -> RemoteRange:
        def act() -> RemoteRange:
            self._expect(key, if_match)
            found = self.objects[key]
            return RemoteRange(found.body[offset : offset + length], len(found.body), found.etag)

        return self._request("get_range", key, act)  # type: ignore[no-any-return]

    def put_part(self, key: str, upload: str, number: int, body: bytes) -> None:
        self._request("put_part", key, lambda: self.parts.update({(upload, number): body}))

    def complete(self, key: str, upload: str, parts: int, **conditions: Any) -> Optional[str]:
        bodies = [self.parts.pop((upload, number)) for number in range(1, parts + 1)]
        self.parts = {known: body for known, body in self.parts.items() if known[0] != upload}
        self.calls.append(("complete", key))
        return self.put(key, b"".join(bodies), **conditions) if parts else None

    def head(self, key: str) -> RemoteHead:
        def act() -> RemoteHead:
            found = self.objects[key]
            return RemoteHead(len(found.body), found.etag, found.metadata)

        return self._request("head", key, act)  # type: ignore[no-any-return]

    def delete(self, key: str, if_match: Optional[str] = None) -> None:
        def act() -> None:
            self._expect(key, if_match)
            self.objects.pop(key, None)

        self._request("delete", key, act)

    def list(self, prefix: str, after: Optional[str] = None, limit: int = 1000) -> RemotePage:
        def act() -> RemotePage:
            keys = sorted(key for key in self.objects if key.startswith(prefix) and key > (after or ""))
            entries = [
                RemoteEntry(key, len(self.objects[key].body), self.objects[key].etag) for key in keys[:limit]
            ]
            return RemotePage(entries, has_more=len(keys) > limit)

        return self._request("list", prefix, act)  # type: ignore[no-any-return]

    def _expect(self, key: str, if_match: Optional[str]) -> None:
        if if_match is not None and (key not in self.objects or self.objects[key].etag != if_match):
            raise PreconditionFailed(f"{key} is another")

    def fail(
        self, error: Callable[[], BaseException], operation: str = "", key: str = "", times: int = 2**30
    ) -> None:
        """Raises an error at requests of this kind, so many times."""
        left = [times]

        def before(asked: str, name: str) -> None:
            if operation in ("", asked) and key in name and left[0] > 0:
                left[0] -= 1
                raise error()

        self.before = before


#: The key of a shard's file.
def shard_key(shard: int, user: str = "ada") -> str:
    return f"catalogs/{user}/shards/{shard:x}.csv"


MANIFEST = "catalogs/ada/manifest.json"
