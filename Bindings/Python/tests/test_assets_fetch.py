"""Assets by URL, from a server on loopback: the function of the host."""

from __future__ import annotations

import http.server
import io
import threading
import urllib.error
import urllib.request
from typing import Any, Dict, Iterator, List, Union

import pytest
from helpers import HOUR, SHANGHAI, Clock, section, storage

import satchel
from satchel import Asset, InvalidArgument
from satchel.assets import NOT_MODIFIED, AssetRequest, Assets, Fetched, NotModified


class Server(http.server.ThreadingHTTPServer):
    """Serves ``pictures`` by their path, with ETags."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.pictures: Dict[str, bytes] = {}
        self.seen: List[Any] = []

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}{path}"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        body, known = self.server.pictures.get(self.path), self.headers["If-None-Match"]
        etag = None if body is None else f'"{len(body)}"'
        status = 404 if body is None else 304 if etag == known else 200
        self.server.seen.append((self.path, known, status))
        self.send_response(status)
        if etag is not None:
            self.send_header("ETag", etag)
        self.send_header("Content-Length", str(len(body or b"") if status == 200 else 0))
        self.end_headers()
        if status == 200:
            self.wfile.write(body or b"")

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing is logged."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


def fetch(request: AssetRequest) -> Union[Fetched, NotModified]:
    """The function of the guide."""
    question = urllib.request.Request(request.url)
    if request.etag is not None:
        question.add_header("If-None-Match", request.etag)
    try:
        response = urllib.request.urlopen(question, timeout=10)
    except urllib.error.HTTPError as error:
        with error:
            if error.code == 304:
                return NOT_MODIFIED
        raise
    return Fetched(response, response.headers["ETag"])


def test_assets_are_fetched_once(store: satchel.Store, assets: Assets, server: Server) -> None:
    server.pictures = {f"/{number}": bytes([number]) * 40_000 * number for number in range(4)}
    references = [Asset(url=server.url(f"/{number}")) for number in range(4)]
    with store.records("notes") as notes:
        notes.put("n1", {"pictures": references})
        progress: List[Any] = []
        report = assets.fetch(notes.get("n1")["pictures"], fetch, progress=progress.append)
        assert (report.fetched, report.fetched_bytes, report.failed) == (4, 240_000, [])
        assert [(each.assets_done, each.assets_total) for each in progress] == [(n, 4) for n in range(4)]
        for number, each in enumerate(notes.get("n1")["pictures"]):
            assert assets.get(each).bytes() == server.pictures[f"/{number}"]
            info = assets.info(each)
            assert (info.state, info.urls) == ("here", [server.url(f"/{number}")])
            # By its SHA-256 it is the same one.
            assert assets.info(str(info.sha256)) == info
    assert assets.fetch(references, fetch).present == 4
    assert len(server.seen) == 4


def test_an_etag_saves_the_bytes(assets: Assets, server: Server) -> None:
    server.pictures["/a"] = b"one"
    reference = Asset(url=server.url("/a"))
    assets.fetch([reference], fetch)
    report = assets.fetch([reference], fetch, refresh=True)
    assert (report.fetched, report.present) == (0, 1)
    server.pictures["/a"] = b"another"
    assert assets.fetch([reference], fetch, refresh=True).fetched == 1
    assert assets.read(reference) == b"another"
    assert server.seen == [("/a", None, 200), ("/a", '"3"', 304), ("/a", '"3"', 200)]


def test_one_that_fails_does_not_stop_the_others(assets: Assets, server: Server, clock: Clock) -> None:
    server.pictures["/b"] = b"there"
    references = [Asset(url=server.url(path)) for path in ("/a", "/b")]
    report = assets.fetch(references, fetch)
    assert (report.fetched, len(report.failed)) == (1, 1)
    failed = report.failed[0]
    assert failed.asset == references[0]
    assert "404" in failed.message
    assert isinstance(failed.error, urllib.error.HTTPError)
    assert failed.retry_at == clock() + 60_000
    # It has its turn later, and then after twice as long.
    assert assets.fetch(references, fetch).waiting == 1
    clock.advance(60_001)
    assert assets.fetch(references, fetch).failed[0].retry_at == clock() + 120_000
    server.pictures["/a"] = b"now"
    assert assets.fetch(references, fetch).waiting == 1
    assert assets.fetch(references, fetch, ignore_backoff=True).fetched == 1
    assert assets.read(references[0]) == b"now"


def test_limits(assets: Assets, server: Server) -> None:
    server.pictures = {"/a": b"a" * 200_000, "/b": b"b" * 100, "/c": b"c"}
    references = [Asset(url=server.url(path)) for path in ("/a", "/b", "/c")]
    report = assets.fetch(references, fetch, max_size=199_999, max_bytes=100)
    assert (report.fetched, report.waiting, len(report.failed)) == (1, 1, 1)
    assert "199999" in report.failed[0].message
    assert [assets.info(each).state for each in references] == ["remote", "here", "remote"]


def test_other_bytes_than_those_of_the_reference_are_refused(assets: Assets, server: Server) -> None:
    server.pictures["/a"] = b"evil"
    wanted = Asset("0" * 64, url=server.url("/a"))
    report = assets.fetch([wanted], fetch)
    assert "SHA-256" in report.failed[0].message
    assert assets.info(wanted).state == "remote"
    assert assets.list() == []


@pytest.mark.parametrize("result", [None, 7, "text", ["bytes"], io.StringIO("text")])
def test_what_is_no_result_fails(assets: Assets, result: Any) -> None:
    report = assets.fetch(["http://localhost/a"], lambda _: result)
    assert isinstance(report.failed[0].error, InvalidArgument)


def test_a_function_that_raises(assets: Assets) -> None:
    def broken(_: AssetRequest) -> bytes:
        raise ZeroDivisionError("oh")

    report = assets.fetch(["http://localhost/a"], broken)
    assert isinstance(report.failed[0].error, ZeroDivisionError)
    assert report.failed[0].message == "ZeroDivisionError: oh"

    def interrupted(_: AssetRequest) -> bytes:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        assets.fetch(["http://localhost/b", "http://localhost/c"], interrupted)


def test_a_fetch_is_cancelled(assets: Assets, server: Server) -> None:
    server.pictures = {"/a": b"a", "/b": b"b"}
    references = [Asset(url=server.url(path)) for path in ("/a", "/b")]
    with pytest.raises(satchel.Cancelled):
        assets.fetch(references, fetch, progress=lambda progress: progress.assets_done < 1)
    assert [assets.info(each).state for each in references] == ["here", "remote"]


def test_garbage_in_arguments(store: satchel.Store, assets: Assets) -> None:
    calls: List[Any] = [
        ({"fetch": None}, "fetch"),
        ({"max_size": 0}, "max_size"),
        ({"max_bytes": -1}, "max_bytes"),
        ({"progress": 7}, "progress"),
        ({"assets": [None]}, "asset"),
        ({"assets": ["ftp://a/b"]}, "asset"),
    ]
    for arguments, named in calls:
        with pytest.raises(InvalidArgument, match=named):
            assets.fetch(**{"assets": ["http://localhost/a"], "fetch": fetch, **arguments})
    with pytest.raises(InvalidArgument, match="transaction"), store.batch():
        assets.fetch([], fetch)


def test_what_the_catalogue_has_fetched_is_a_cache(
    store: satchel.Store, assets: Assets, server: Server, clock: Clock
) -> None:
    server.pictures = {f"/{number}": bytes([number]) * 100_000 for number in range(3)}
    dishes = {
        f"dish {number}": {
            "picture": Asset(url=server.url(f"/{number}")),
            **storage(f"dishes:{number}", "locality", 1000),
        }
        for number in range(3)
    }
    store.catalogue.persist(SHANGHAI, section(dishes, "dishes"))
    references = [Asset(url=server.url(f"/{number}")) for number in range(3)]
    assets.fetch(references, fetch)
    clock.advance(2 * HOUR)
    assets.read(references[0])
    report = assets.prune(max_bytes=100_000)
    assert (report.removed, report.bytes, report.over_budget) == (2, 100_000, 0)
    # The least recently used went first.
    assert [assets.info(each).state for each in references] == ["here", "remote", "remote"]
    assert assets.fetch(references, fetch).fetched == 2


def test_strings_are_declared_to_be_urls(store: satchel.Store, assets: Assets, server: Server) -> None:
    server.pictures["/a"] = b"a picture"
    url = server.url("/a")
    content = {"cards": [{"image": url, **storage("dishes:1", "locality")}, {"image": "no URL"}]}
    store.catalogue.persist(SHANGHAI, section(content, "dishes"))
    assert assets.info(url).references == 0
    # Stored content is looked through again.
    store.catalogue.assets("dishes", ["/cards/*/image"])
    assert assets.info(url).references == 1
    receipt = store.catalogue.persist(SHANGHAI, section({"cards": [{"image": "no URL"}]}, "dishes"))
    assert [each.pointer for each in receipt.problems] == ["/content/cards/0/image"]
    store.catalogue.persist(SHANGHAI, section(content, "dishes"))
    assert assets.fetch([url], fetch).fetched == 1
    loaded = store.catalogue.load(SHANGHAI, "dishes")
    assert loaded is not None
    assert assets.read(loaded.content["cards"][0]["image"]) == b"a picture"
    for paths in (["cards"], [""], [7]):
        with pytest.raises(InvalidArgument, match="paths"):
            store.catalogue.assets("dishes", paths)  # type: ignore[arg-type]
    store.catalogue.assets("dishes", [])
    assert assets.info(url).references == 0
