"""Signed requests to AWS services: enough to set servers up, and apart from the code under test."""

from __future__ import annotations

import datetime
import hashlib
import hmac
import http.client
import re
import ssl
import urllib.parse
from dataclasses import dataclass


@dataclass(frozen=True)
class Key:
    """Who signs."""

    access_key: str
    secret_key: str
    session_token: str | None = None


def _digest(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def request(
    endpoint: str,
    method: str,
    path: str,
    key: Key,
    *,
    service: str = "s3",
    region: str = "us-east-1",
    body: bytes = b"",
    headers: dict[str, str] | None = None,
) -> tuple[int, bytes]:
    """Sends a request without a query, and returns the status and the body."""
    url = urllib.parse.urlsplit(endpoint)
    now = datetime.datetime.now(datetime.UTC)
    day, moment = now.strftime("%Y%m%d"), now.strftime("%Y%m%dT%H%M%SZ")
    payload = hashlib.sha256(body).hexdigest()
    signed = {"host": url.netloc, "x-amz-date": moment, "x-amz-content-sha256": payload}
    if key.session_token:
        signed["x-amz-security-token"] = key.session_token
    names = ";".join(sorted(signed))
    lines = [method, path, "", *(f"{name}:{signed[name]}" for name in sorted(signed)), "", names, payload]
    scope = f"{day}/{region}/{service}/aws4_request"
    hashed = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    message = "\n".join(["AWS4-HMAC-SHA256", moment, scope, hashed])
    secret = ("AWS4" + key.secret_key).encode()
    for part in (day, region, service, "aws4_request"):
        secret = _digest(secret, part)
    signature = _digest(secret, message).hex()
    signed["authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={key.access_key}/{scope}, SignedHeaders={names}, Signature={signature}"
    )
    connection = _connection(url)
    try:
        connection.request(method, path, body=body or None, headers={**signed, **(headers or {})})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def _connection(url: urllib.parse.SplitResult) -> http.client.HTTPConnection:
    host = url.hostname or ""
    if url.scheme == "https":
        # Only the tests themselves judge certificates.
        context = ssl._create_unverified_context()
        return http.client.HTTPSConnection(host, url.port, timeout=60, context=context)
    return http.client.HTTPConnection(host, url.port, timeout=60)


def make_bucket(endpoint: str, bucket: str, key: Key) -> None:
    """Makes a bucket, or fails."""
    status, body = request(endpoint, "PUT", "/" + bucket, key)
    if status not in (200, 204):
        raise RuntimeError(f"no bucket: {status} {body[:300]!r}")


def use_bucket(endpoint: str, bucket: str, key: Key) -> None:
    """Writes an object and deletes it, or fails."""
    for method, content in (("PUT", b"in use"), ("DELETE", b"")):
        status, body = request(endpoint, method, f"/{bucket}/in-use", key, body=content)
        if status not in (200, 204):
            raise RuntimeError(f"{method} of an object: {status} {body[:300]!r}")


def query(endpoint: str, service: str, key: Key, **fields: str) -> dict[str, str]:
    """Calls IAM or STS, and returns the leaves of the answer by name."""
    body = urllib.parse.urlencode(fields).encode()
    kind = {"content-type": "application/x-www-form-urlencoded"}
    status, answer = request(endpoint, "POST", "/", key, service=service, body=body, headers=kind)
    if status != 200:
        raise RuntimeError(f"{fields.get('Action')}: {status} {answer[:300]!r}")
    return dict(re.findall(r"<(\w+)>([^<]+)</\1>", answer.decode()))
