"""A proxy before an object store that counts what goes over the wire: heads and bodies, each way."""

import asyncio
import contextlib
import threading
from collections import Counter
from dataclasses import dataclass, field

CHUNK = 1 << 18
HEAD_MAXIMUM = 1 << 18
END_OF_HEAD = b"\r\n\r\n"


@dataclass
class Traffic:
    up: int = 0
    down: int = 0
    methods: Counter[str] = field(default_factory=Counter)

    @property
    def requests(self) -> int:
        return sum(self.methods.values())


class CountingProxy:
    """Listens on a port of the loopback as long as the block lasts."""

    def __init__(self, upstream_port: int, delay: float = 0) -> None:
        """:param delay: seconds that each request takes longer, as by a network"""
        self.upstream_port = upstream_port
        self.delay = delay
        self.traffic = Traffic()
        self.is_ready = threading.Event()
        self.thread = threading.Thread(target=lambda: asyncio.run(self.serve()))

    def __enter__(self) -> "CountingProxy":
        self.thread.start()
        self.is_ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.call_soon_threadsafe(self.is_over.set)
        self.thread.join()

    def take(self) -> Traffic:
        """Returns the counts since the last call."""
        counted, self.traffic = self.traffic, Traffic()
        return counted

    async def serve(self) -> None:
        self.loop, self.is_over = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self.connected, "127.0.0.1", 0, limit=HEAD_MAXIMUM)
        self.endpoint = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self.is_ready.set()
        await self.is_over.wait()
        server.close()

    async def connected(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        """A connection; it ends when the client's does, or with the block."""
        ends = (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError)
        with contextlib.suppress(*ends):
            store, to_store = await asyncio.open_connection(
                "127.0.0.1", self.upstream_port, limit=HEAD_MAXIMUM
            )
            answers = asyncio.ensure_future(self.pass_answers(store, to_client))
            with contextlib.suppress(*ends):
                await self.pass_requests(client, to_store)
            answers.cancel()
            to_store.close()
        to_client.close()

    async def pass_requests(self, client: asyncio.StreamReader, store: asyncio.StreamWriter) -> None:
        """Follows the requests far enough to count them; their bytes go on as they are."""
        while True:
            try:
                head = await client.readuntil(END_OF_HEAD)
            except asyncio.IncompleteReadError:
                return
            self.traffic.methods[head.split(b" ", 1)[0].decode()] += 1
            await asyncio.sleep(self.delay)
            await self.send_up(store, head)
            fields = dict(line.lower().split(b":", 1) for line in head.split(b"\r\n")[1:-2])
            if fields.get(b"transfer-encoding", b"").strip() == b"chunked":
                await self.pass_chunks(client, store)
            else:
                await self.pass_body(client, store, int(fields.get(b"content-length", b"0")))

    async def pass_chunks(self, client: asyncio.StreamReader, store: asyncio.StreamWriter) -> None:
        size = None
        while size != 0:
            line = await client.readuntil(b"\r\n")
            size = int(line.split(b";")[0], 16)
            await self.send_up(store, line)
            await self.pass_body(client, store, size + 2)

    async def pass_body(self, client: asyncio.StreamReader, store: asyncio.StreamWriter, size: int) -> None:
        while size > 0:
            data = await client.read(min(size, CHUNK))
            if not data:
                raise ConnectionError("the client went away")
            size -= len(data)
            await self.send_up(store, data)

    async def send_up(self, store: asyncio.StreamWriter, data: bytes) -> None:
        self.traffic.up += len(data)
        store.write(data)
        await store.drain()

    async def pass_answers(self, store: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await store.read(CHUNK):
                self.traffic.down += len(data)
                client.write(data)
                await client.drain()
            client.close()
