#!/usr/bin/env python3
"""content.py LISTEN OTHER ADMIN SECURE CERTIFICATE KEY: the backend of an app, with faults on request.

It listens on ports of the loopback: two sites, and the first of them over https. Each test has a space of its
own, a name in the path, with its own content, faults and counts:
  GET /SPACE/content?PLACE&section=NAME   a section, or without one a delivery with all of them
  GET /SPACE/asset/NAME                   bytes that the name determines, or a file of the folder
Both have an ETag, 304, Cache-Control and Date; content is sent with gzip, assets also in ranges.

GET /SPACE?JSON from ADMIN, a percent-encoded object, changes the space; GET /SPACE returns its counts.
Members:
  sections       the names of the sections of each place; ["cuisine", "sights"] by default
  content        instead of what is generated: an object of sections by name; "" is the delivery
  folder         instead of what is generated: has NAME.json, delivery.json, and assets by their names
  version        is in all that is generated, so that a change of it changes the content
  complete       whether a delivery says that it is complete
  cache_control  the header; null for none
  etag, gzip     whether they are used
  ranges         whether assets are sent in ranges
  size           the size of an asset in bytes
  offline        whether each connection is reset without an answer
  faults         a list; each is for one request, in this order, or for `times` many, and those with `path` or
                 `section` only for such. Their "fault" is:
    status    answers "code", perhaps with "body" and "headers"
    slow      waits "seconds"
    hold      waits until the space is changed
    after     waits until the section "after" was answered once more, or "count" times in all
    body      answers with the text "body" and the type "type" instead of the content
              ("repeat" of status and body: how often the text is repeated)
    headers   answers with "headers" as well
    cut       answers with "bytes" of the body, then closes; with "reset": true resets
    stall     answers with "bytes" of the body, then nothing more
    redirect  answers "code" with "to" as Location; {url} and {other} in it are the two sites with the space
  reset          clears the counts
The counts: requests, answered, most (how many were there at one time), most_alike (of one place and
section), open, and seen, for each request its site, path, query, headers and status.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import socket
import ssl
import struct
import sys
import threading
import urllib.parse
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Fault = dict[str, Any]
FOR_EVER = 3600.0
PLACE = ("latitude", "longitude", "sublocality", "locality", "admin_area", "country_code", "country_name")


class Space:
    """The content, the faults and the counts of a test."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.settings: dict[str, Any] = {
            "sections": ["cuisine", "sights"], "content": None, "folder": None, "version": 1,
            "complete": False, "cache_control": "max-age=60", "etag": True, "gzip": True, "ranges": True,
            "size": 2000, "offline": False,
        }  # fmt: skip
        self.faults: list[Fault] = []
        #: Changes of the settings, which end what is held.
        self.changes = 0
        self.alike: Counter[tuple[str, ...]] = Counter()
        self.clear()

    def clear(self) -> None:
        """Counts from the beginning."""
        self.requests = self.answered = self.most = self.most_alike = 0
        self.seen: list[dict[str, Any]] = []
        self.answers: Counter[str] = Counter()

    def change(self, changes: dict[str, Any]) -> None:
        """As an administrator says."""
        with self.changed:
            if changes.pop("reset", False):
                self.clear()
            self.faults = changes.pop("faults", self.faults)
            unknown = changes.keys() - self.settings.keys()
            if unknown:
                raise KeyError(f"unknown: {unknown}")
            self.settings |= changes
            self.changes += 1
            self.changed.notify_all()

    def counts(self) -> dict[str, Any]:
        """Returns the counts."""
        with self.changed:
            return {
                "requests": self.requests, "answered": self.answered, "most": self.most,
                "most_alike": self.most_alike, "open": self.alike.total(), "seen": self.seen,
            }  # fmt: skip

    def begin(self, key: tuple[str, ...], entry: dict[str, Any]) -> Fault:
        """Counts a request, and returns its fault."""
        with self.changed:
            self.requests += 1
            self.seen.append(entry)
            self.alike[key] += 1
            self.most = max(self.most, self.alike.total())
            self.most_alike = max(self.most_alike, self.alike[key])
            for index, fault in enumerate(self.faults):
                if fault.get("path", "") in entry["path"] and fault.get("section", key[-1]) == key[-1]:
                    fault["times"] = fault.get("times", 1) - 1
                    if fault["times"] <= 0:
                        del self.faults[index]
                    return fault
            return {"fault": "none"}

    def end(self, key: tuple[str, ...]) -> None:
        """Counts an answer."""
        with self.changed:
            self.alike[key] -= 1
            self.answered += 1
            self.answers[key[-1]] += 1
            self.changed.notify_all()

    def wait(self, fault: Fault) -> None:
        """Waits as a fault says."""
        with self.changed:
            before, answers = self.changes, self.answers[fault.get("after", "")]
            if fault["fault"] == "slow":
                self.changed.wait_for(lambda: False, fault["seconds"])
            elif fault["fault"] == "hold":
                self.changed.wait_for(lambda: self.changes != before, FOR_EVER)
            elif fault["fault"] == "after":
                wanted = fault.get("count", answers + 1)
                self.changed.wait_for(lambda: self.answers[fault["after"]] >= wanted, FOR_EVER)


class Backend:
    """The spaces, and the two sites."""

    def __init__(self, sites: tuple[str, str]) -> None:
        self.sites = sites
        self.lock = threading.Lock()
        self.spaces: dict[str, Space] = {}

    def space(self, name: str) -> Space:
        """Makes one that is not there."""
        with self.lock:
            return self.spaces.setdefault(name, Space())

    def section(self, space: Space, name: str, place: str, site: str) -> dict[str, Any]:
        """Generates a section with two entities, one of which has a picture."""
        version = space.settings["version"]
        entities = {
            f"{name} {number}": {
                "title": f"{name} {number} of {place or 'nowhere'}",
                "version": version,
                "picture": {"_asset": {"url": f"{site}/asset/{name}-{number}.png"}},
                "_storage": {"entity_id": f"{name}:{number}", "scope": "country", "ttl_hours": 24},
            }
            for number in (1, 2)
        }
        return {"section": name, "display_title": name.capitalize(), "content": entities}

    def content(self, space: Space, section: str, place: str, site: str) -> bytes | None:
        """The JSON of a section, or of a delivery; None for one that is not there."""
        settings = space.settings
        if settings["folder"]:
            file = Path(settings["folder"]) / f"{section or 'delivery'}.json"
            return file.read_bytes() if file.is_file() else None
        if settings["content"] is not None:
            value = settings["content"].get(section)
            return None if value is None else json.dumps(value).encode()
        names = settings["sections"]
        if section:
            return (
                json.dumps(self.section(space, section, place, site)).encode() if section in names else None
            )
        delivery: dict[str, Any] = {"sections": [self.section(space, name, place, site) for name in names]}
        if settings["complete"]:
            delivery["complete"] = True
        return json.dumps(delivery).encode()

    def asset(self, space: Space, name: str) -> bytes | None:
        """The bytes of an asset; None for one that is not there."""
        if space.settings["folder"]:
            file = Path(space.settings["folder"]) / Path(name).name
            return file.read_bytes() if file.is_file() else None
        if name.startswith("absent"):
            return None
        block = hashlib.sha256(f"{name} {space.settings['version']}".encode()).digest()
        size = space.settings["size"]
        return (block * (size // len(block) + 1))[:size]


class Site(ThreadingHTTPServer):
    """One port."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self,
        port: int,
        handler: type[BaseHTTPRequestHandler],
        backend: Backend,
        *,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__(("127.0.0.1", port), handler)
        self.backend = backend
        #: Where what it generates refers to.
        self.url = backend.sites[0]
        if tls:
            self.url = f"https://127.0.0.1:{port}"
            # A thread of its own waits for each handshake.
            self.socket = tls.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that has gone is no error."""
        if not isinstance(sys.exc_info()[1], ConnectionError | ssl.SSLError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class Handler(BaseHTTPRequestHandler):
    """One request for content or an asset."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Site

    def log_message(self, *_: object) -> None:
        """Nothing: the counts say it."""

    def do_GET(self) -> None:
        """Answers as the space says."""
        backend = self.server.backend
        url = urllib.parse.urlsplit(self.path)
        query = urllib.parse.parse_qs(url.query, keep_blank_values=True)
        name, _, rest = url.path.lstrip("/").partition("/")
        space = backend.space(name)
        place = ",".join(query[each][0] for each in PLACE if each in query)
        section = query.get("section", [""])[0]
        entry: dict[str, Any] = {"site": self.server.server_address[1], "path": "/" + rest, "query": query}
        entry |= {"headers": {key.lower(): value for key, value in self.headers.items()}, "status": None}
        key = (rest, place, section)
        fault = space.begin(key, entry)
        try:
            space.wait(fault)
            if space.settings["offline"]:
                self.reset()
                return
            self.answer(backend, space, name, rest, place, section, fault, entry)
        finally:
            space.end(key)

    def answer(
        self, backend: Backend, space: Space, name: str, rest: str, place: str, section: str,
        fault: Fault, entry: dict[str, Any],
    ) -> None:  # fmt: skip
        """Sends an answer, or a faulty one."""
        kind = fault["fault"]
        url, other = (f"{site}/{name}" for site in (self.server.url, backend.sites[1]))
        is_asset = rest.startswith("asset/")
        body = backend.asset(space, rest[6:]) if is_asset else None
        if rest == "content":
            body = backend.content(space, section, place, url)
        status, headers = 200, {"Content-Type": "image/png" if is_asset else "application/json"}
        if kind == "status":
            status, body = fault["code"], fault.get("body", "").encode() * fault.get("repeat", 1)
            headers |= fault.get("headers", {})
        elif kind == "redirect":
            status, body = fault.get("code", 302), b""
            headers["Location"] = fault["to"].replace("{url}", url).replace("{other}", other)
        elif kind == "body":
            body, headers["Content-Type"] = (
                fault["body"].encode() * fault.get("repeat", 1),
                fault.get("type", "application/json"),
            )
        elif body is None:
            status, body = 404, b"not here"
        else:
            status, body = self.conditional(space, body, headers, is_asset)
        if kind == "headers":
            headers |= fault["headers"]
        accepted = self.headers.get("Accept-Encoding", "")
        if status == 200 and space.settings["gzip"] and not is_asset and "gzip" in accepted:
            headers["Content-Encoding"] = "gzip"
            body = gzip.compress(body, mtime=0)
        entry["status"] = status
        self.send(status, headers, body, fault)

    def conditional(
        self, space: Space, body: bytes, headers: dict[str, str], is_asset: bool
    ) -> tuple[int, bytes]:
        """Adds what caches use, and returns the status and what is sent of the body."""
        settings = space.settings
        etag = '"' + hashlib.sha256(body).hexdigest()[:16] + '"'
        if settings["etag"]:
            headers["ETag"] = etag
        if settings["cache_control"] is not None:
            headers["Cache-Control"] = settings["cache_control"]
        if settings["etag"] and self.headers.get("If-None-Match") == etag:
            return 304, b""
        wanted = self.headers.get("Range", "")
        if is_asset and settings["ranges"] and wanted.startswith("bytes="):
            first, _, last = wanted[6:].partition("-")
            end = min(int(last) + 1 if last else len(body), len(body))
            if int(first) >= len(body):
                headers["Content-Range"] = f"bytes */{len(body)}"
                return 416, b""
            headers["Content-Range"] = f"bytes {first}-{end - 1}/{len(body)}"
            return 206, body[int(first) : end]
        return 200, body

    def send(self, status: int, headers: dict[str, str], body: bytes, fault: Fault) -> None:
        """Sends all of it, or a part."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        kind = fault["fault"]
        if kind in ("cut", "stall"):
            self.wfile.write(body[: fault["bytes"]])
            self.wfile.flush()
            if kind == "stall":
                self.server.backend.space("").wait({"fault": "hold"})
            if fault.get("reset"):
                self.reset()
            self.close_connection = True
            return
        self.wfile.write(body)

    def reset(self) -> None:
        """Ends the connection as a crash does."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def finish(self) -> None:
        """A connection that was reset cannot be flushed."""
        with contextlib.suppress(OSError, ValueError):
            super().finish()


class Admin(BaseHTTPRequestHandler):
    """One request of a test."""

    server: Site

    def log_message(self, *_: object) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        """Changes a space, or returns its counts."""
        name, asked, changes = self.path.lstrip("/").partition("?")
        space, status, answer = self.server.backend.space(name), 200, b"{}"
        try:
            if asked:
                space.change(json.loads(urllib.parse.unquote(changes)))
            else:
                answer = json.dumps(space.counts()).encode()
        except (KeyError, ValueError) as error:
            status, answer = 400, str(error).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


def main(listen: int, other: int, admin: int, secure: int, certificate: str, key: str) -> None:
    """Serves without end."""
    backend = Backend((f"http://127.0.0.1:{listen}", f"http://127.0.0.1:{other}"))
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate, key)
    sites = [
        Site(listen, Handler, backend), Site(other, Handler, backend), Site(admin, Admin, backend),
        Site(secure, Handler, backend, tls=tls),
    ]  # fmt: skip
    for site in sites[1:]:
        threading.Thread(target=site.serve_forever, daemon=True).start()
    sites[0].serve_forever()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:5]), *sys.argv[5:7])
