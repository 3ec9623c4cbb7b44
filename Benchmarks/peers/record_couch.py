"""A device that replicates its records by CouchDB's protocol, one step in its own process:
python -m peers.record_couch ENDPOINT FILE fill DATA | change DATA | sync [DATA DIGEST]

A synchronization is a replication to the server and one from it, each as CouchDB's manual describes it and
with its default of 500 documents a batch (worker_batch_size): the database's facts, the checkpoint, the
changes, _revs_diff, _bulk_docs or _bulk_get, _ensure_full_commit, the checkpoint. One connection is used for
all requests.
"""

import hashlib
import http.client
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

from .couch_server import Database

BATCH = 500
DATABASE = "records"


def batches(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (items[first : first + BATCH] for first in range(0, len(items), BATCH))


class Server:
    def __init__(self, endpoint: str) -> None:
        parts = urlsplit(endpoint)
        self.connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=600)
        self.requests = 0

    def ask(self, method: str, name: str, body: Any = None) -> Any:
        """None for what is not there."""
        self.requests += 1
        text = None if body is None else json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        self.connection.request(method, f"/{DATABASE}/{name}", text, headers)
        response = self.connection.getresponse()
        answer = response.read()
        if response.status == 404:
            return None
        if response.status >= 300:
            raise SystemExit(f"{method} {name}: {response.status}")
        return json.loads(answer)


def checkpoint(name: str, local: Database, server: Server) -> int:
    """The sequence up to which both sides know the replication."""
    here, there = local.checkpoint(name), server.ask("GET", name)
    return here["source_last_seq"] if here and there and here == there else 0


def keep_checkpoint(name: str, sequence: int, local: Database, server: Server) -> None:
    body = {"source_last_seq": sequence, "replication_id_version": 4, "session_id": f"s{sequence}"}
    local.keep_checkpoint(name, body)
    server.ask("PUT", name, body)


def push(device: str, local: Database, server: Server) -> None:
    name = f"_local/push-{device}"
    server.ask("GET", "")
    since = checkpoint(name, local, server)
    last = since
    for batch in batches(local.changes(since)):
        missing = server.ask("POST", "_revs_diff", {identifier: [rev] for _, identifier, rev in batch})
        if missing:
            documents = [local.document(identifier) for identifier in missing]
            server.ask("POST", "_bulk_docs", {"docs": documents, "new_edits": False})
        last = batch[-1][0]
    if last > since:
        server.ask("POST", "_ensure_full_commit", {})
        keep_checkpoint(name, last, local, server)


def pull(device: str, local: Database, server: Server) -> None:
    name = f"_local/pull-{device}"
    server.ask("GET", "")
    since = checkpoint(name, local, server)
    changes = server.ask("GET", f"_changes?feed=normal&style=all_docs&since={since}")
    for batch in batches(changes["results"]):
        asked = {each["id"]: [change["rev"] for change in each["changes"]] for each in batch}
        wanted = local.missing(asked)
        if not wanted:
            continue
        refs = [{"id": key, "rev": rev} for key, told in wanted.items() for rev in told["missing"]]
        found = server.ask("POST", "_bulk_get?revs=true&latest=true", {"docs": refs})
        local.write([each["docs"][0]["ok"] for each in found["results"]])
    if changes["last_seq"] > since:
        keep_checkpoint(name, changes["last_seq"], local, server)


def edit(local: Database, lines: list[bytes]) -> None:
    """Writes documents as an app does: each gets its next revision."""
    documents = []
    for line in lines:
        members = json.loads(line)
        identifier = members["id"]
        row = local.connection.execute("SELECT revs FROM docs WHERE id = ?", (identifier,)).fetchone()
        revs = json.loads(row[0]) if row else []
        ids = [hashlib.md5(line).hexdigest(), *(rev.partition("-")[2] for rev in revs)]
        told = {"start": len(ids), "ids": ids}
        documents.append({"_id": identifier, "_rev": f"{len(ids)}-{ids[0]}", "_revisions": told, **members})
    local.write(documents)


def digest(local: Database, lines: list[bytes]) -> str:
    found = hashlib.sha256()
    for line in lines:
        row = local.connection.execute(
            "SELECT body FROM docs WHERE id = ?", (json.loads(line)["id"],)
        ).fetchone()
        found.update((row[0].encode() if row else b"-") + b"\n")
    return found.hexdigest()


def main(endpoint: str, path: str, step: str, data: str = "", expected: str = "") -> None:
    local = Database(path)
    lines = Path(data).read_bytes().splitlines() if data else []
    if step in ("fill", "change"):
        edit(local, lines)
        return
    server = Server(endpoint)
    device = Path(path).stem
    start = perf_counter()
    push(device, local, server)
    pull(device, local, server)
    seconds = perf_counter() - start
    if expected and digest(local, lines) != expected:
        sys.exit("the records are not those that were sent")
    print(json.dumps({"seconds": round(seconds, 4), "counted": server.requests}))


if __name__ == "__main__":
    main(*sys.argv[1:])
