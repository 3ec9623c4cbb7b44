"""Writes the fixtures of the request signer into this folder: `python generate.py`, with botocore installed.

aws.json       the four examples that AWS publishes for S3 (API reference, "Authenticating requests: using the
               Authorization header"), typed in here
botocore.json  300 random requests with a fixed seed, signed by botocore: the second opinion
"""

import datetime
import hashlib
import json
import pathlib
import random

import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

HERE = pathlib.Path(__file__).parent
UNRESERVED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
ALPHABET = "abcXYZ019-_.~ +=%&?#/'()!*;:@,$[]éß日本😀\t\"\\^`{|}<>"
QUERY_NAMES = ["prefix", "list-type", "list", "list-a", "delimiter", "continuation-token", "marker", "é +"]
HEADER_VALUES = {
    "x-amz-meta-b": " a  b ",
    "x-amz-meta-a-c": "1",
    "x-amz-meta-a": "2",
    "x-amz-meta-": "short",
    "Content-Type": "text/plain; x=y",
    "Content-MD5": "1B2M2Y8AsgTpgAmY7PhCfg==",
    "Range": "bytes=0-9",
    "If-Match": '"abc"',
    "If-None-Match": "*",
}
HOSTS = ["127.0.0.1:5007", "bucket.example.org", "s3.eu-west-3.example:8443"]


def encode(text: str, keep: bytes = b"") -> str:
    return "".join(chr(b) if b in UNRESERVED + keep else f"%{b:02X}" for b in text.encode())


def aws_examples() -> dict:
    empty = hashlib.sha256(b"").hexdigest()
    welcome = hashlib.sha256(b"Welcome to Amazon S3.").hexdigest()
    put_headers = [["Date", "Fri, 24 May 2013 00:00:00 GMT"], ["x-amz-storage-class", "REDUCED_REDUNDANCY"]]
    cases = [
        [
            "GET object",
            "GET",
            "/test.txt",
            [],
            [["Range", "bytes=0-9"]],
            empty,
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
        ],
        [
            "PUT object",
            "PUT",
            "/test$file.text",
            [],
            put_headers,
            welcome,
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
        ],
        [
            "GET bucket lifecycle",
            "GET",
            "/",
            [["lifecycle", ""]],
            [],
            empty,
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
        ],
        [
            "GET bucket (list objects)",
            "GET",
            "/",
            [["max-keys", "2"], ["prefix", "J"]],
            [],
            empty,
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
        ],
    ]
    names = ["name", "method", "path", "query", "headers", "payload", "signature"]
    return {
        "milliseconds": 1369353600000,
        "access_key": "AKIAIOSFODNN7EXAMPLE",
        "secret_key": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "region": "us-east-1",
        "host": "examplebucket.s3.amazonaws.com",
        "cases": [dict(zip(names, case, strict=True)) for case in cases],
    }


def word(chance: random.Random, shortest: int, longest: int) -> str:
    return "".join(chance.choice(ALPHABET) for _ in range(chance.randint(shortest, longest)))


def random_case(chance: random.Random) -> dict:
    names = chance.sample(QUERY_NAMES, chance.randint(0, 4))
    headers = chance.sample(sorted(HEADER_VALUES), chance.randint(0, len(HEADER_VALUES)))
    return {
        "milliseconds": chance.randint(0, 4102444800) * 1000 + chance.randint(0, 999),
        "access_key": "AK" + str(chance.randint(0, 10**9)),
        "secret_key": "secret/+" + str(chance.randint(0, 10**9)) * chance.randint(1, 9),
        "token": chance.choice([None, "tok/en+=" * chance.randint(1, 40)]),
        "region": chance.choice(["us-east-1", "eu-west-3", "garage"]),
        "host": chance.choice(HOSTS),
        "method": chance.choice(["GET", "PUT", "HEAD", "DELETE"]),
        "path": "/" + word(chance, 0, 30),
        "query": [[name, word(chance, 0, 12)] for name in names],
        "headers": [[name, HEADER_VALUES[name]] for name in headers],
        "payload": hashlib.sha256(str(chance.random()).encode()).hexdigest(),
    }


def sign(case: dict) -> dict:
    seconds = case["milliseconds"] // 1000
    now = datetime.datetime.fromtimestamp(seconds, tz=datetime.UTC)
    botocore.auth.get_current_datetime = lambda *_, **__: now
    query = "&".join(f"{encode(name)}={encode(value)}" for name, value in case["query"])
    url = f"http://{case['host']}{encode(case['path'], b'/')}" + ("?" + query if query else "")
    request = AWSRequest(method=case["method"], url=url, data=b"", headers=dict(case["headers"]))
    request.headers["X-Amz-Content-SHA256"] = case["payload"]
    keys = Credentials(case["access_key"], case["secret_key"], case["token"])
    signer = botocore.auth.S3SigV4Auth(keys, "s3", case["region"])
    signer.payload = lambda _: case["payload"]
    signer.add_auth(request)
    return {**case, "authorization": request.headers["Authorization"]}


def main() -> None:
    chance = random.Random(20130524)
    cases = [sign(random_case(chance)) for _ in range(300)]
    for name, content in [("aws.json", aws_examples()), ("botocore.json", cases)]:
        text = json.dumps(content, ensure_ascii=False, indent=0) + "\n"
        (HERE / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
