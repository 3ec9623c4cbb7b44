"""Sources: a server, and functions of the host."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import threading
import time
from typing import Any, Callable, Dict, Iterator, List, Union

import pytest
from backend import Backend
from helpers import SHANGHAI

import satchel
import satchel.aio
from satchel import Asset, ContentRequest, Fetched, HTTPSource, InvalidArgument, NotFoundAtSource, Retry
from satchel.assets import AssetRequest
from satchel.remote import NOT_MODIFIED
from satchel.sources import NotModified, SourceError


@pytest.fixture
def backend() -> Backend:
    return Backend()


@pytest.fixture
def source(backend: Backend) -> Iterator[HTTPSource]:
    headers = {"Authorization": "Bearer SECRET"}
    with HTTPSource(f"{backend.url}/content?key=SECRET", headers) as source:
        yield source


def content_of(answer: Union[Fetched, NotModified]) -> Fetched:
    assert isinstance(answer, Fetched)
    return answer


def test_a_section_then_not_modified(backend: Backend, source: HTTPSource) -> None:
    fetched = content_of(source.content(ContentRequest(SHANGHAI, "cuisine", ("cuisine:1",))))
    assert fetched.content["section"] == "cuisine"
    assert (fetched.max_age, fetched.complete) == (60, False)
    assert source.content(ContentRequest(SHANGHAI, "cuisine", etag=fetched.etag)) is NOT_MODIFIED
    seen = backend.counts["seen"]
    assert [each["status"] for each in seen] == [200, 304]
    assert seen[0]["query"]["entity"] == ["cuisine:1"]
    assert seen[0]["headers"]["authorization"] == "Bearer SECRET"


def test_a_complete_delivery(backend: Backend, source: HTTPSource) -> None:
    backend.change(complete=True, etag=False, cache_control=None)
    fetched = content_of(source.content(SHANGHAI))
    assert len(fetched.content["sections"]) == 2
    assert (fetched.etag, fetched.max_age, fetched.complete) == (None, None, True)


@pytest.mark.parametrize(
    ("fault", "transient", "after"),
    [
        ({"fault": "status", "code": 503, "headers": {"Retry-After": "7"}}, True, 7),
        ({"fault": "status", "code": 401}, False, None),
        ({"fault": "cut", "bytes": 10}, True, None),
        ({"fault": "hold"}, True, None),
        ({"fault": "redirect", "to": "{other}/content"}, True, None),
    ],
)
def test_failures(backend: Backend, fault: Dict[str, Any], transient: bool, after: Any) -> None:
    backend.expect(fault)
    timeout = 0.5 if fault["fault"] == "hold" else None
    with (
        HTTPSource(f"{backend.url}/content?key=SECRET", stall_timeout=timeout) as source,
        pytest.raises(SourceError) as raised,
    ):
        source.content(SHANGHAI)
    assert (raised.value.transient, raised.value.retry_after) == (transient, after)
    assert f"{backend.url}/content" in str(raised.value)
    assert "SECRET" not in str(raised.value)


def test_what_is_not_there(backend: Backend, source: HTTPSource) -> None:
    with pytest.raises(NotFoundAtSource):
        source.content(ContentRequest(SHANGHAI, "hotels"))
    backend.expect({"fault": "body", "body": '{"a": '})
    with pytest.raises(SourceError, match="not JSON"):
        source.content(SHANGHAI)


def test_a_server_whose_certificate_is_not_of_a_public_authority(
    backend: Backend, store: satchel.Store
) -> None:
    content, picture = f"{backend.secure}/content", Asset(url=f"{backend.secure}/asset/a.png")
    with HTTPSource(content, ca_file=backend.ca_file) as source:
        fetched = content_of(source.content(ContentRequest(SHANGHAI, "cuisine")))
        assert fetched.content["content"]["cuisine 1"]["picture"]["_asset"]["url"].startswith("https:")
        assert store.assets.fetch([picture], source=source).fetched == 1
        backend.expect({"fault": "redirect", "to": f"{backend.url}/content"})
        with pytest.raises(SourceError, match="redirect"):
            source.content(SHANGHAI)
    backend.change(reset=True)
    for name, ca_file in (("b", backend.wrong_ca_file), ("c", None)):
        with HTTPSource(content, ca_file=ca_file) as source:
            with pytest.raises(SourceError, match="certificate") as raised:
                source.content(SHANGHAI)
            assert raised.value.transient
            picture = Asset(url=f"{backend.secure}/asset/{name}.png")
            [failed] = store.assets.fetch([picture], source=source).failed
            assert "certificate" in failed.message
    assert backend.counts["requests"] == 0
    with (
        HTTPSource(content, ca_file="/nowhere.pem") as source,
        pytest.raises(SourceError, match="nowhere"),
    ):
        source.content(SHANGHAI)


def test_options() -> None:
    for options, name in (
        ({"base_url": "ftp://a"}, "base_url"),
        ({"base_url": "https://u:SECRET@a"}, "base_url"),
        ({"base_url": "https://a", "headers": {"Host": "b"}}, "Host"),
        ({"base_url": "https://a", "headers": {"X": "SECRET\n"}}, "X"),
        ({"base_url": "https://a", "timeout": -1}, "timeout"),
        ({"base_url": "https://a", "max_size": 0}, "max_size"),
        ({"base_url": "https://a", "proxy": ""}, "proxy"),
    ):
        with pytest.raises(InvalidArgument, match=name) as raised:
            HTTPSource(**options)
        assert "SECRET" not in str(raised.value)
    source = HTTPSource("https://example.org/v1?key=SECRET", proxy="http://127.0.0.1:1", allow_private=True)
    assert repr(source) == "<satchel.HTTPSource 'https://example.org/v1'>"
    source.close()
    source.close()
    assert repr(source).endswith(", closed>")
    with pytest.raises(satchel.Closed):
        source.content(SHANGHAI)


def test_assets_of_a_server(backend: Backend, source: HTTPSource, store: satchel.Store) -> None:
    assets = [
        Asset(url=f"{site}/asset/{name}") for site in (backend.url, backend.other) for name in ("a", "absent")
    ]
    report = store.assets.fetch(assets, source=source)
    assert (report.fetched, report.fetched_bytes, len(report.failed)) == (2, 4000, 2)
    assert "404" in report.failed[0].message
    seen = backend.counts["seen"]
    assert ["authorization" in each["headers"] for each in seen] == [True, True, False, False]


PICTURE = "https://example.org/a.png"


class Host:
    """A source of the host that says what it was asked for."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.seen: List[Any] = []

    def content(self, request: ContentRequest) -> Any:
        return self.asset(request)

    def asset(self, request: Any) -> Any:
        self.seen.append(request)
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    "answer",
    [b"bytes", io.BytesIO(b"bytes"), Fetched(b"bytes", "v1"), satchel.assets.Fetched(b"bytes", "v1")],
)
def test_an_asset_of_a_function(store: satchel.Store, answer: Any) -> None:
    host = Host(answer)
    assert store.assets.fetch([Asset(url=PICTURE)], source=host, max_size=1000).fetched == 1
    assert host.seen[0][:4] == AssetRequest(PICTURE, None, None, 1000)[:4]
    assert not host.seen[0].cancelled()
    assert store.assets.get(PICTURE).bytes() == b"bytes"
    if not isinstance(answer, (bytes, io.BytesIO)):
        host.answer = NOT_MODIFIED
        assert store.assets.fetch([Asset(url=PICTURE)], source=host, refresh=True).present == 1
        assert host.seen[1].etag == "v1"


@pytest.mark.parametrize(
    "error", [Retry(5), NotFoundAtSource("no picture"), SourceError("no"), ValueError("odd")]
)
def test_an_asset_that_fails(store: satchel.Store, error: Exception) -> None:
    (failed,) = store.assets.fetch([Asset(url=PICTURE)], source=Host(error)).failed
    assert failed.error is error
    assert str(error) in failed.message


def test_a_source_without_assets(store: satchel.Store) -> None:
    (failed,) = store.assets.fetch([Asset(url=PICTURE)], source=lambda request: b"").failed
    assert "no assets" in failed.message
    for source in (None, 5, "https://example.org"):
        with pytest.raises(InvalidArgument, match="source"):
            store.assets.fetch([], source=source)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="source"):
        store.assets.fetch([], lambda request: b"", source=Host(b""))


def test_what_ends_the_program_ends_the_call(store: satchel.Store) -> None:
    with pytest.raises(KeyboardInterrupt):
        store.assets.fetch([Asset(url=PICTURE)], source=Host(KeyboardInterrupt()))


def test_a_coroutine_runs_on_a_loop_of_its_own(store: satchel.Store) -> None:
    class Slow:
        async def content(self, request: ContentRequest) -> Fetched:
            return Fetched({})

        async def asset(self, request: AssetRequest) -> bytes:
            await asyncio.sleep(0)
            return b"bytes"

    assert store.assets.fetch([Asset(url=PICTURE)], source=Slow()).fetched == 1


def test_a_coroutine_runs_on_the_loop_of_an_asynchronous_store() -> None:
    threads: List[int] = []

    class Slow:
        async def content(self, request: ContentRequest) -> Fetched:
            return Fetched({})

        async def asset(self, request: AssetRequest) -> bytes:
            threads.append(threading.get_ident())
            await asyncio.sleep(0)
            return b"bytes"

    async def main() -> None:
        async with satchel.aio.open(":memory:") as store:
            report = await store.assets.fetch([Asset(url=PICTURE)], source=Slow())
            assert report.fetched == 1

    asyncio.run(main())
    assert threads == [threading.get_ident()]


def test_the_store_is_not_closed_from_a_source(store: satchel.Store) -> None:
    refused: List[Exception] = []

    class Closing(Host):
        def asset(self, request: Any) -> Any:
            with pytest.raises(satchel.Busy) as raised:
                store.close()
            refused.append(raised.value)
            return b"bytes"

    assert store.assets.fetch([Asset(url=PICTURE)], source=Closing(None)).fetched == 1
    assert len(refused) == 1


def when_it_waits(backend: Backend, call: Callable[[], object]) -> threading.Thread:
    """Calls something on another thread when the backend has the request."""

    def wait() -> None:
        while backend.counts["open"] == 0:
            pass
        call()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def test_a_request_is_interrupted(backend: Backend) -> None:
    backend.expect({"fault": "hold"})
    interrupt = satchel.Interrupt()
    thread = when_it_waits(backend, interrupt.cancel)
    with HTTPSource(f"{backend.url}/content") as source, interrupt, pytest.raises(satchel.Cancelled):
        source.content(SHANGHAI)
    thread.join()
    backend.change()


def test_ctrl_c_ends_a_request(backend: Backend) -> None:
    backend.expect({"fault": "hold"})
    thread = when_it_waits(backend, lambda: os.kill(os.getpid(), signal.SIGINT))
    with HTTPSource(f"{backend.url}/content") as source, pytest.raises(KeyboardInterrupt):
        source.content(SHANGHAI)
    thread.join()
    backend.change()


def test_a_cancelled_task_ends_the_transfer_of_an_asset(backend: Backend) -> None:
    backend.expect({"fault": "hold"})

    async def main() -> None:
        loop = asyncio.get_running_loop()
        with HTTPSource(backend.url, stall_timeout=0, timeout=0) as source:
            async with satchel.aio.open(":memory:") as store:
                fetching = store.assets.fetch([Asset(url=f"{backend.url}/asset/x")], source=source)
                task = asyncio.ensure_future(fetching)
                thread = when_it_waits(backend, lambda: loop.call_soon_threadsafe(task.cancel))
                with pytest.raises(asyncio.CancelledError):
                    await task
                thread.join()

    asyncio.run(main())
    backend.change()


def test_a_function_learns_that_its_call_was_cancelled(store: satchel.Store) -> None:
    """Its exception is no failure then: the next request is sent at once, as the first attempt."""
    begun, attempts = threading.Event(), []

    def slow(request: Any) -> bytes:
        attempts.append(request)
        begun.set()
        while not request.cancelled():
            time.sleep(0.001)
        raise ConnectionError("ended early")

    host = Host(b"bytes")
    host.asset = slow  # type: ignore[method-assign]
    with pytest.raises(satchel.Cancelled):
        store.assets.fetch([Asset(url=PICTURE)], source=host, progress=lambda _: not begun.is_set())
    assert len(attempts) == 1
    assert store.assets.fetch([Asset(url=PICTURE)], lambda request: b"bytes").fetched == 1


def test_a_coroutine_is_cancelled_with_its_call() -> None:
    async def main() -> List[str]:
        ended: List[str] = []

        async def quick(request: ContentRequest) -> Any:
            ended.append(str(request.attempt))
            return {"sections": []}

        begun = asyncio.Event()

        async def slow(request: ContentRequest) -> Any:
            begun.set()
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                ended.append("cancelled")
                raise

        async with satchel.aio.open(":memory:") as store:
            task = asyncio.ensure_future(store.catalogue.refresh(SHANGHAI, source=slow))
            await begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            # It was no failure: the next request is sent at once, as the first attempt.
            assert (await store.catalogue.refresh(SHANGHAI, source=quick)).requests == 1
        return ended

    assert asyncio.run(main()) == ["cancelled", "1"]
