"""An S3 store in this process with quirks of stores that people rent, as their documentation describes them.

It takes requests in path style, keeps objects in memory, and does not look at signatures. The quirks:

  no_conditions      answers 501 to If-Match and If-None-Match (Backblaze B2)
  ignores_conditions writes in spite of them
  object_lock        demands a checksum header of each write (S3 Object Lock)
  no_delete          a key without the right to delete
  no_list            a key without the right to list: 403 also for a read of what does not exist
  no_ranges          answers 200 with the whole object to a range
  no_parts           answers 501 to uploads in parts
  no_upload_list     a key without the right to list uploads in parts
  no_metadata        keeps none
  weak_tags          its ETags are weak, as those of a proxy that compresses
  below_path         its interface is below /storage/v1/s3 (Supabase)
"""

from __future__ import annotations

import base64
import datetime
import email.utils
import hashlib
import re
import threading
import time
import urllib.parse
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Dict, List, Optional, Tuple
from xml.sax.saxutils import escape

import satchel

Answer = Tuple[int, bytes, Dict[str, str]]


class RentedStore(ThreadingHTTPServer):
    """``objects`` by key, ``requests`` as (method, path), and how far its clock is ``ahead``."""

    daemon_threads = True

    def __init__(self, *quirks: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.quirks = set(quirks)
        self.objects: Dict[str, Tuple[bytes, Dict[str, str]]] = {}
        self.uploads: Dict[str, Tuple[str, str, Dict[int, bytes], Dict[str, str]]] = {}
        self.requests: List[Tuple[str, str]] = []
        self.headers: List[Dict[str, str]] = []
        self.ahead = 0
        self.lock = threading.Lock()
        self._thread = threading.Thread(target=self.serve_forever, daemon=True)
        self._thread.start()

    @property
    def path(self) -> str:
        return "/storage/v1/s3" if "below_path" in self.quirks else ""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def remote(self, **more: Any) -> satchel.remote.S3:
        """The bucket, as a client sees it."""
        options: Dict[str, Any] = {
            "bucket": "rented",
            "endpoint": self.address + self.path,
            "region": "us-east-1",
            "access_key": "AKIDOFTHETESTS",
            "secret_key": "hush",
        }
        return satchel.remote.S3(**{**options, **more})

    def close(self) -> None:
        self.shutdown()
        self.server_close()
        self._thread.join()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores errors of clients."""

    def tag(self, body: bytes) -> str:
        digest = f'"{hashlib.md5(body).hexdigest()}"'
        return f"W/{digest}" if "weak_tags" in self.quirks else digest

    def answer(self, method: str, target: str, sent: Dict[str, str], body: bytes) -> Answer:
        """The answer to one request; ``sent`` has headers by names in lower case."""
        at = datetime.datetime.strptime(sent["x-amz-date"], "%Y%m%dT%H%M%SZ")
        skew = at.replace(tzinfo=datetime.timezone.utc).timestamp() - time.time() - self.ahead
        if abs(skew) > 900:
            return _problem(403, "RequestTimeTooSkewed")
        split = urllib.parse.urlsplit(target)
        if not split.path.startswith(f"{self.path}/rented"):
            return _problem(404, "NoSuchBucket")
        key = urllib.parse.unquote(split.path[len(f"{self.path}/rented") :]).lstrip("/")
        query = {
            name: values[0]
            for name, values in urllib.parse.parse_qs(split.query, keep_blank_values=True).items()
        }
        if not key:
            return self._listing(query)
        if "uploads" in query or "uploadId" in query:
            return self._upload(method, key, query, sent, body)
        if method == "PUT":
            return self._put(key, sent, body)
        if method == "DELETE":
            if "no_delete" in self.quirks:
                return _problem(403, "AccessDenied")
            self.objects.pop(key, None)
            return 204, b"", {}
        return self._read(key, sent)

    def _read(self, key: str, sent: Dict[str, str]) -> Answer:
        if key not in self.objects:
            return _problem(403, "AccessDenied") if "no_list" in self.quirks else _problem(404, "NoSuchKey")
        body, metadata = self.objects[key]
        headers = {"ETag": self.tag(body), **metadata}
        if sent.get("if-none-match", "").strip('"') == hashlib.md5(body).hexdigest():
            return 304, b"", headers
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", sent.get("range", ""))
        if wanted is None or "no_ranges" in self.quirks:
            return 200, body, headers
        first, last = int(wanted[1]), min(int(wanted[2] or len(body)), len(body) - 1)
        if first >= len(body):
            return _problem(416, "InvalidRange")
        return 206, body[first : last + 1], {**headers, "Content-Range": f"bytes {first}-{last}/{len(body)}"}

    def _condition(self, key: str, sent: Dict[str, str]) -> Optional[Answer]:
        """Why a write is refused."""
        match, none = sent.get("if-match"), sent.get("if-none-match")
        if (match or none) and "no_conditions" in self.quirks:
            return _problem(501, "NotImplemented")
        if "ignores_conditions" in self.quirks:
            return None
        known = hashlib.md5(self.objects[key][0]).hexdigest() if key in self.objects else None
        if (none and known) or (match and match.strip('"') != known):
            return _problem(412, "PreconditionFailed")
        return None

    def _put(self, key: str, sent: Dict[str, str], body: bytes) -> Answer:
        refusal = self._unchecked(sent, body) or self._condition(key, sent)
        if refusal:
            return refusal
        self.objects[key] = (body, self._metadata(sent))
        return 200, b"", {"ETag": self.tag(body)}

    def _unchecked(self, sent: Dict[str, str], body: bytes) -> Optional[Answer]:
        checksum = sent.get("content-md5")
        if checksum is None:
            return _problem(400, "InvalidRequest") if "object_lock" in self.quirks else None
        is_right = base64.b64decode(checksum) == hashlib.md5(body).digest()
        return None if is_right else _problem(400, "BadDigest")

    def _metadata(self, sent: Dict[str, str]) -> Dict[str, str]:
        if "no_metadata" in self.quirks:
            return {}
        return {name: value for name, value in sent.items() if name.startswith("x-amz-meta-")}

    def _upload(
        self, method: str, key: str, query: Dict[str, str], sent: Dict[str, str], body: bytes
    ) -> Answer:
        if "no_parts" in self.quirks:
            return _problem(501, "NotImplemented")
        if "uploads" in query:
            name = uuid.uuid4().hex
            self.uploads[name] = (key, rented_now(), {}, self._metadata(sent))
            return _xml("InitiateMultipartUploadResult", f"<UploadId>{name}</UploadId>")
        upload = self.uploads.get(query["uploadId"])
        if upload is None or upload[0] != key:
            return _problem(404, "NoSuchUpload")
        if method == "PUT":
            upload[2][int(query["partNumber"])] = body
            return self._unchecked(sent, body) or (200, b"", {"ETag": self.tag(body)})
        if method == "DELETE":
            del self.uploads[query["uploadId"]]
            return 204, b"", {}
        if method == "GET":
            parts = "".join(
                f"<Part><PartNumber>{number}</PartNumber><Size>{len(part)}</Size>"
                f"<ETag>{escape(self.tag(part))}</ETag></Part>"
                for number, part in sorted(upload[2].items())
            )
            return _xml("ListPartsResult", f"<IsTruncated>false</IsTruncated>{parts}")
        refusal = self._condition(key, sent)
        if refusal:
            return refusal
        whole = b"".join(part for _, part in sorted(upload[2].items()))
        self.objects[key] = (whole, upload[3])
        del self.uploads[query["uploadId"]]
        return _xml("CompleteMultipartUploadResult", f"<ETag>{escape(self.tag(whole))}</ETag>")

    def _listing(self, query: Dict[str, str]) -> Answer:
        if "no_list" in self.quirks:
            return _problem(403, "AccessDenied")
        prefix = query.get("prefix", "")
        if "uploads" in query and "no_upload_list" in self.quirks:
            return _problem(403, "AccessDenied")
        if "uploads" in query:
            found = "".join(
                f"<Upload><Key>{escape(key)}</Key><UploadId>{name}</UploadId><Initiated>{date}</Initiated>"
                "</Upload>"
                for name, (key, date, _, _) in sorted(self.uploads.items(), key=lambda each: each[1][0])
                if key.startswith(prefix)
            )
            return _xml("ListMultipartUploadsResult", f"<IsTruncated>false</IsTruncated>{found}")
        limit = int(query.get("max-keys", "1000"))
        keys = sorted(
            key for key in self.objects if key.startswith(prefix) and key > query.get("start-after", "")
        )
        entries = "".join(
            f"<Contents><Key>{escape(key)}</Key><Size>{len(self.objects[key][0])}</Size>"
            f"<ETag>{escape(self.tag(self.objects[key][0]))}</ETag></Contents>"
            for key in keys[:limit]
        )
        more = "true" if len(keys) > limit else "false"
        return _xml("ListBucketResult", f"<IsTruncated>{more}</IsTruncated>{entries}")


def rented_now() -> str:
    """The time as listings say it."""
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _xml(name: str, content: str) -> Answer:
    text = f'<?xml version="1.0" encoding="UTF-8"?><{name}>{content}</{name}>'
    return 200, text.encode(), {"Content-Type": "application/xml"}


def _problem(status: int, code: str) -> Answer:
    body = f'<?xml version="1.0" encoding="UTF-8"?><Error><Code>{code}</Code><Message>no</Message></Error>'
    return status, body.encode(), {"Content-Type": "application/xml"}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: RentedStore

    def log_message(self, *_: Any) -> None:
        pass

    def answer(self) -> None:
        server = self.server
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        sent = {name.lower(): value for name, value in self.headers.items()}
        with server.lock:
            server.requests.append((self.command, urllib.parse.unquote(self.path)))
            server.headers.append(sent)
            status, content, headers = server.answer(self.command, self.path, sent, body)
        self.send_response_only(status)
        self.send_header("Date", email.utils.formatdate(time.time() + server.ahead, usegmt=True))
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


# The names that the base class looks up.
for _method in ("GET", "HEAD", "PUT", "POST", "DELETE"):
    setattr(_Handler, f"do_{_method}", _Handler.answer)
