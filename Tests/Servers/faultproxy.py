#!/usr/bin/env python3
"""faultproxy.py LISTEN UPSTREAM ADMIN: a proxy on the loopback that injects faults on request.

GET /?JSON from ADMIN, a percent-encoded list of faults, one for each of the next requests; then they pass.
GET / returns the requests since: method, path, if_match, fault, the status that the store gave and the number
of the connection; the bytes of both directions, heads included (up, down), and those of the bodies alone
(body_up, body_down). A fault is
an object whose "fault" is:
  pass
  status       answers so itself: "code", and perhaps "body" and "headers"
  delay        waits "seconds" before it passes the request on
  hang         reads the request, and never answers
  reset_before resets the connection when the request begins
  lost_reply   passes the request on, and closes instead of answering; with "reset": true resets
  truncate     answers with "bytes" of the body, then closes; with "reset": true resets
  stall        answers with "bytes" of the body, then nothing more
  corrupt      flips a bit of the body at "at"
  cut_upload   reads "bytes" of the request's body, then resets
  double       passes the request on twice, and returns the second answer
  drop_header  takes the header "name" out of the request, as a store does that ignores it
  drop_answer  takes the header "name" out of the answer, as a proxy that compresses does
  hold         passes the request on when the proxy gets other faults
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
import sys
import urllib.parse
from dataclasses import dataclass
from typing import Any

Fault = dict[str, Any]
FOR_EVER = 3600.0


@dataclass
class Message:
    """A request or an answer."""

    first: bytes
    headers: list[tuple[bytes, bytes]]
    body: bytes = b""

    def header(self, name: bytes) -> bytes | None:
        """The first of that name, which is in lower case."""
        return next((value.strip() for key, value in self.headers if key.strip().lower() == name), None)

    def without(self, *names: bytes) -> Message:
        """Without headers of these names."""
        kept = [field for field in self.headers if field[0].strip().lower() not in names]
        return Message(self.first, kept, self.body)

    def bytes(self, more: bytes = b"", body: bytes | None = None) -> bytes:
        """As it is sent."""
        lines = b"".join(name + b":" + value + b"\r\n" for name, value in self.headers)
        return self.first + b"\r\n" + lines + more + b"\r\n" + (self.body if body is None else body)


async def read_head(reader: asyncio.StreamReader) -> Message:
    """Up to the empty line."""
    lines = (await reader.readuntil(b"\r\n\r\n"))[:-4].split(b"\r\n")
    headers = [(name, value) for name, _, value in (line.partition(b":") for line in lines[1:])]
    return Message(lines[0], headers)


async def read_body(reader: asyncio.StreamReader, message: Message, is_answer: bool) -> bytes:
    """By length, in chunks, or up to the end."""
    if (message.header(b"transfer-encoding") or b"").lower() == b"chunked":
        body = b""
        while True:
            line = await reader.readline()
            size = int(line.split(b";")[0], 16)
            body += line + await reader.readexactly(size + 2)
            if size == 0:
                return body
    length = message.header(b"content-length")
    if length is not None:
        return await reader.readexactly(int(length))
    return await reader.read() if is_answer else b""


class Proxy:
    """The faults to inject, and the requests seen."""

    def __init__(self, upstream: int) -> None:
        self.upstream = upstream
        self.connections = 0
        self.faults: list[Fault] = []
        self.seen: list[dict[str, Any]] = []
        #: Ends what is held.
        self.release = asyncio.Event()

    async def pass_on(self, request: Message, method: bytes) -> tuple[int, Message]:
        """Returns the store's answer."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.upstream)
        try:
            writer.write(request.bytes(b"Connection: close\r\n"))
            await writer.drain()
            status = 100
            while status == 100:
                answer = await read_head(reader)
                status = int(answer.first.split()[1])
            if method != b"HEAD" and status not in (204, 304):
                answer.body = await read_body(reader, answer, is_answer=True)
            return status, answer.without(b"connection")
        finally:
            writer.close()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A connection of a client, for as long as nothing goes wrong that ends it."""
        self.connections += 1
        number = self.connections
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while await self.exchange(reader, writer, number):
                await writer.drain()
        with contextlib.suppress(Exception):
            writer.close()

    async def exchange(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: int
    ) -> bool:
        """A request and its answer. False: the connection is over."""
        request = await read_head(reader)
        method, path = request.first.split()[:2]
        fault: Fault = self.faults.pop(0) if self.faults else {"fault": "pass"}
        kind = fault["fault"]
        condition = (request.header(b"if-match") or b"").decode()
        entry: dict[str, Any] = {"method": method.decode(), "path": path.decode(), "if_match": condition}
        entry |= {"fault": kind, "status": None, "connection": connection}
        entry |= {"up": len(request.bytes()), "down": 0, "body_up": 0, "body_down": 0}
        self.seen.append(entry)
        if kind == "reset_before":
            return reset(writer)
        if kind == "cut_upload":
            await reader.readexactly(fault["bytes"])
            return reset(writer)
        request.body = await read_body(reader, request, is_answer=False)
        entry |= {"up": len(request.bytes()), "body_up": len(request.body)}
        if kind == "status":
            writer.write(made_up(fault, method))
            return True
        if kind == "hang":
            await asyncio.sleep(FOR_EVER)
        if kind == "delay":
            await asyncio.sleep(fault["seconds"])
        if kind == "hold":
            await self.release.wait()
        dropped = [fault["name"].encode()] if kind == "drop_header" else []
        request = request.without(b"connection", b"expect", *dropped)
        if kind == "double":
            await self.pass_on(request, method)
        entry["status"], answer = await self.pass_on(request, method)
        entry |= {"down": len(answer.bytes()), "body_down": len(answer.body)}
        if kind == "drop_answer":
            answer = answer.without(fault["name"].encode())
        return await self.answer(fault, answer, writer)

    async def answer(self, fault: Fault, answer: Message, writer: asyncio.StreamWriter) -> bool:
        """Sends the client its part of an answer."""
        kind = fault["fault"]
        if kind == "lost_reply":
            return reset(writer) if fault.get("reset") else False
        if kind in ("truncate", "stall"):
            writer.write(answer.bytes(body=answer.body[: fault["bytes"]]))
            await writer.drain()
            if kind == "stall":
                await asyncio.sleep(FOR_EVER)
            # So that what was sent arrives before the end does.
            await asyncio.sleep(0.05)
            return reset(writer) if fault.get("reset") else False
        if kind == "corrupt" and answer.body:
            body = bytearray(answer.body)
            body[fault["at"] % len(body)] ^= 1
            answer.body = bytes(body)
        writer.write(answer.bytes())
        return True

    async def administer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request of a test."""
        try:
            request = await read_head(reader)
        except asyncio.IncompleteReadError:
            # Somebody looked whether this is up.
            writer.close()
            return
        _, asked, faults = request.first.split()[1].decode().partition("?")
        if asked:
            self.faults[:] = json.loads(urllib.parse.unquote(faults))
            self.seen.clear()
            self.release.set()
            self.release = asyncio.Event()
        answer = json.dumps(self.seen).encode()
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(answer) + answer
        )
        await writer.drain()
        writer.close()


def made_up(fault: Fault, method: bytes) -> bytes:
    """An answer that no store gave."""
    body = fault.get("body", "").encode()
    lines = "".join(f"{name}: {value}\r\n" for name, value in fault.get("headers", {}).items())
    head = f"HTTP/1.1 {fault['code']} Injected\r\nContent-Length: {len(body)}\r\n{lines}\r\n"
    return head.encode() + (b"" if method == b"HEAD" else body)


def reset(writer: asyncio.StreamWriter) -> bool:
    """Ends a connection as a crash does."""
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
    return False


async def main(listen: int, upstream: int, admin: int) -> None:
    """Serves without end."""
    proxy = Proxy(upstream)
    servers = [
        await asyncio.start_server(proxy.serve, "127.0.0.1", listen, limit=1 << 20),
        await asyncio.start_server(proxy.administer, "127.0.0.1", admin),
    ]
    await asyncio.gather(*(server.serve_forever() for server in servers))


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:4])))
