#!/usr/bin/env python3
"""The backend of the travel guide: a server for places and their pictures, which are files in this folder.

    python3 Examples/Backend/backend.py         # http://127.0.0.1:8000/places, until Ctrl-C
    curl -i 'http://127.0.0.1:8000/places?locality=Porto&section=sights'

GET /places?locality=NAME               all that places/NAME.json has, an object with "sections"
GET /places?locality=NAME&section=NAME  one of its sections
GET /pictures/NAME                      a picture, to which the sections refer by its URL

Files are read for each request: change one, and the next request gets it. An answer has an ETag, the hash of
what is sent. A client that has it already sends it as If-None-Match, and gets 304 without a body.
Cache-Control says for how long the client need not ask at all. Other files: --folder, another port: --port;
--port 0 takes a free one.
"""

import argparse
import hashlib
import json
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Handler(BaseHTTPRequestHandler):
    """One request."""

    # Keeps the connection open for the next one.
    protocol_version = "HTTP/1.1"
    folder: Path

    def do_GET(self) -> None:
        """Answers with a file, or a part of it."""
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        if url.path == "/places":
            self.send(self.place(query.get("locality", ""), query.get("section")), "application/json", 3600)
        elif url.path.startswith("/pictures/"):
            self.send(self.file("pictures", url.path.removeprefix("/pictures/")), "image/jpeg", 86400)
        else:
            self.send(None)

    def file(self, folder: str, name: str) -> bytes | None:
        """A file of a folder. The name comes from the network: it has to be one of those that are there."""
        found = {path.name: path for path in (self.folder / folder).iterdir()}
        return found[name].read_bytes() if name in found else None

    def place(self, locality: str, section: str | None) -> bytes | None:
        """The content of a place, or one section of it."""
        text = self.file("places", f"{locality.lower()}.json")
        if text is None:
            return None
        # Where the client reaches this server.
        text = text.replace(b"{backend}", f"http://{self.headers['Host']}".encode())
        if section is None:
            return text
        for each in json.loads(text)["sections"]:
            if each["section"] == section:
                return json.dumps(each).encode()
        return None

    def send(self, body: bytes | None, kind: str = "text/plain", max_age: int = 60) -> None:
        """Sends an answer; None is 404."""
        status, body = (200, body) if body is not None else (404, b"There is no such place or picture.\n")
        etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        if status == 200 and self.headers.get("If-None-Match") == etag:
            status, body = 304, b""
        self.send_response(status)
        self.send_header("Cache-Control", f"max-age={max_age}")
        if status != 404:
            self.send_header("ETag", etag)
        if status != 304:
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> None:
    parser = argparse.ArgumentParser(description="The backend of the travel guide.")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent, help="with places and pictures")
    arguments = parser.parse_args()
    Handler.folder = arguments.folder
    # For this machine only: 127.0.0.1, not 0.0.0.0.
    server = ThreadingHTTPServer(("127.0.0.1", arguments.port), Handler)
    print(f"Serving {arguments.folder} at http://127.0.0.1:{server.server_port}/places", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print("\nStopped.")


if __name__ == "__main__":
    main()
