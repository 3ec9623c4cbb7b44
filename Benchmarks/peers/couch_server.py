"""A database that speaks CouchDB's replication protocol, as its manual describes it, over one SQLite file:
python -m peers.couch_server FILE prints the port.

The server is ours: read requests and bytes from it, not time. It has no attachments and no conflicts: of two
revisions the one that sorts last wins, as CouchDB shows it.
"""

import json
import sqlite3
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

TABLES = """
CREATE TABLE docs (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE, rev TEXT, revs TEXT, body TEXT);
CREATE TABLE local (id TEXT PRIMARY KEY, body TEXT);
"""


def generation(rev: str) -> tuple[int, str]:
    number, _, digest = rev.partition("-")
    return int(number), digest


class Database:
    """Documents with the revisions that they had, in the order of their changes."""

    def __init__(self, path: str) -> None:
        is_new = not Path(path).exists()
        self.connection = sqlite3.connect(path, check_same_thread=False)
        self.lock = threading.Lock()
        if is_new:
            self.connection.executescript(TABLES)

    def sequence(self) -> int:
        return self.connection.execute("SELECT coalesce(max(seq), 0) FROM docs").fetchone()[0]

    def changes(self, since: int) -> list[tuple[int, str, str]]:
        return self.connection.execute(
            "SELECT seq, id, rev FROM docs WHERE seq > ? ORDER BY seq", (since,)
        ).fetchall()

    def missing(self, asked: dict[str, list[str]]) -> dict[str, Any]:
        """The answer of _revs_diff: the revisions that are not here."""
        answer = {}
        for identifier, revs in asked.items():
            row = self.connection.execute("SELECT revs FROM docs WHERE id = ?", (identifier,)).fetchone()
            known = json.loads(row[0]) if row else []
            if missing := [rev for rev in revs if rev not in known]:
                answer[identifier] = {"missing": missing}
                if known:
                    answer[identifier]["possible_ancestors"] = [known[0]]
        return answer

    def document(self, identifier: str) -> dict[str, Any]:
        rev, revs, body = self.connection.execute(
            "SELECT rev, revs, body FROM docs WHERE id = ?", (identifier,)
        ).fetchone()
        ids = [each.partition("-")[2] for each in json.loads(revs)]
        start = generation(rev)[0]
        return {
            "_id": identifier,
            "_rev": rev,
            "_revisions": {"start": start, "ids": ids},
            **json.loads(body),
        }

    def write(self, documents: list[dict[str, Any]]) -> None:
        """Writes documents with the revisions that they bring: _bulk_docs with new_edits false."""
        for document in documents:
            members = {key: value for key, value in document.items() if not key.startswith("_")}
            told = document["_revisions"]
            revs = [f"{told['start'] - place}-{digest}" for place, digest in enumerate(told["ids"])]
            row = self.connection.execute("SELECT rev FROM docs WHERE id = ?", (document["_id"],)).fetchone()
            if row and generation(row[0]) >= generation(document["_rev"]):
                continue
            self.connection.execute("DELETE FROM docs WHERE id = ?", (document["_id"],))
            body = json.dumps(members, ensure_ascii=False, separators=(",", ":"))
            self.connection.execute(
                "INSERT INTO docs (id, rev, revs, body) VALUES (?, ?, ?, ?)",
                (document["_id"], document["_rev"], json.dumps(revs), body),
            )
        self.connection.commit()

    def checkpoint(self, name: str) -> dict[str, Any] | None:
        row = self.connection.execute("SELECT body FROM local WHERE id = ?", (name,)).fetchone()
        return json.loads(row[0]) if row else None

    def keep_checkpoint(self, name: str, body: dict[str, Any]) -> None:
        self.connection.execute("REPLACE INTO local VALUES (?, ?)", (name, json.dumps(body)))
        self.connection.commit()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    database: Database

    def answer(self, value: Any, status: int = 200) -> None:
        body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def body(self) -> Any:
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "null")

    def do_GET(self) -> None:  # noqa: N802
        parts = urlsplit(self.path)
        name = parts.path.strip("/").partition("/")[2]
        with self.database.lock:
            if name == "":
                told = {
                    "db_name": "records",
                    "update_seq": self.database.sequence(),
                    "instance_start_time": "0",
                }
                return self.answer(told)
            if name == "_changes":
                since = int(parse_qs(parts.query)["since"][0])
                results = [
                    {"seq": seq, "id": identifier, "changes": [{"rev": rev}]}
                    for seq, identifier, rev in self.database.changes(since)
                ]
                last = results[-1]["seq"] if results else since
                return self.answer({"results": results, "last_seq": last, "pending": 0})
            found = self.database.checkpoint(name)
            if found is None:
                return self.answer({"error": "not_found", "reason": "missing"}, 404)
            return self.answer(found)

    def do_PUT(self) -> None:  # noqa: N802
        name = urlsplit(self.path).path.strip("/").partition("/")[2]
        body = self.body()
        with self.database.lock:
            self.database.keep_checkpoint(name, body)
        self.answer({"ok": True, "id": name, "rev": "0-1"}, 201)

    def do_POST(self) -> None:  # noqa: N802
        name = urlsplit(self.path).path.strip("/").partition("/")[2]
        asked = self.body()
        with self.database.lock:
            if name == "_revs_diff":
                return self.answer(self.database.missing(asked))
            if name == "_bulk_docs":
                self.database.write(asked["docs"])
                return self.answer([], 201)
            if name == "_bulk_get":
                results = [
                    {"id": each["id"], "docs": [{"ok": self.database.document(each["id"])}]}
                    for each in asked["docs"]
                ]
                return self.answer({"results": results})
            return self.answer({"ok": True, "instance_start_time": "0"}, 201)

    def log_message(self, *_: object) -> None:
        pass


def main(path: str) -> None:
    Handler.database = Database(path)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
