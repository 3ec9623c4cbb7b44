"""A bucket in this process, for what a real store does not do on demand: be slow, or ignore conditions.

It takes requests in path style, keeps objects in memory, and does not look at signatures.
"""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

ACCESS_KEY = "AKIDOFTHETESTS"
SECRET_KEY = "the-secret-key-that-no-one-may-see"


class BucketServer(ThreadingHTTPServer):
    """Maps paths to (body, metadata), records requests, and can be configured to misbehave."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        self.objects = {}
        self.requests = []
        self.seen = threading.Event()
        self.ignores_conditions = False
        self.before = lambda method, path: None

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def environment(self):
        """The environment variables of a user of the bucket."""
        return {
            "AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY, "AWS_SESSION_TOKEN": "",
            "AWS_ENDPOINT_URL": "", "AWS_ENDPOINT_URL_S3": "", "AWS_REGION": "", "AWS_DEFAULT_REGION": "",
        }  # fmt: skip

    def handle_error(self, request, client_address):
        """Ignores errors of clients, which tests kill."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def handle_any(self):
        server = self.server
        path = unquote(self.path.split("?")[0])
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        server.requests.append((self.command, path, self.headers))
        server.seen.set()
        server.before(self.command, path)
        with server.lock:
            status, sent, headers = self.answer(path, body)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(sent)

    def answer(self, path, body):
        objects = self.server.objects
        query = parse_qs(urlsplit(self.path).query)
        if "list-type" in query:
            return 200, listing(objects, path, query["prefix"][0]), {"Content-Type": "application/xml"}
        known = objects.get(path)
        etag = None if known is None else tag(known[0])
        if self.command == "PUT":
            if not self.server.ignores_conditions:
                wanted = self.headers.get("If-Match")
                if wanted and known is None:
                    return problem(404, "NoSuchKey")
                if (wanted and wanted != etag) or (self.headers.get("If-None-Match") == "*" and known):
                    return problem(412, "PreconditionFailed")
            sent = self.headers.items()
            metadata = {name: value for name, value in sent if name.lower().startswith("x-amz-meta-")}
            objects[path] = (body, metadata)
            return 200, b"", {"ETag": tag(body)}
        if self.command == "DELETE":
            objects.pop(path, None)
            return 204, b"", {}
        if known is None:
            return problem(404, "NoSuchKey")
        headers = {"ETag": etag, **known[1]}
        if self.headers.get("If-None-Match") == etag:
            return 304, b"", headers
        return 200, known[0], headers


# The names that the base class looks up.
for name in ("GET", "HEAD", "PUT", "DELETE"):
    setattr(Handler, f"do_{name}", Handler.handle_any)


def tag(body):
    return '"' + hashlib.md5(body).hexdigest() + '"'


def listing(objects, bucket, prefix):
    """Lists all objects below a prefix on one page."""
    start = bucket.rstrip("/") + "/"
    found = "".join(
        f"<Contents><Key>{escape(path.removeprefix(start))}</Key><ETag>{escape(tag(body))}</ETag>"
        f"<Size>{len(body)}</Size></Contents>"
        for path, (body, _) in sorted(objects.items())
        if path.startswith(start + prefix)
    )
    head = '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
    return f"{head}<IsTruncated>false</IsTruncated>{found}</ListBucketResult>".encode()


def problem(status, code):
    body = f'<?xml version="1.0" encoding="UTF-8"?><Error><Code>{code}</Code><Message>no</Message></Error>'
    return status, body.encode(), {"Content-Type": "application/xml"}
