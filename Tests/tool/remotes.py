"""The remotes of the tests: directories, the bucket of bucket_server.py, and real stores."""

import json
import os
import uuid


class Remote:
    """The command line arguments and the environment of a remote."""

    def __init__(self, *words, env=None):
        self.words = ["--user", "ana", *words]
        self.env = env or {}

    def sync(self, device, *more, code=0):
        return device("sync", *self.words, *more, code=code, env=self.env)

    def report(self, device, *more, code=0):
        result = self.sync(device, "--json", *more, code=code)
        assert result.err == ""
        return result.json


def real_store(name):
    settings = json.loads(os.environ["SATCHEL_TEST_S3"])[name]
    env = {
        "AWS_ACCESS_KEY_ID": settings["access_key"], "AWS_SECRET_ACCESS_KEY": settings["secret_key"],
        "AWS_SESSION_TOKEN": settings.get("session_token") or "",
    }  # fmt: skip
    place = f"s3://{settings['bucket']}/tool-{uuid.uuid4().hex}/photos"
    trust = ["--ca-file", settings["ca_file"]] if "ca_file" in settings else []
    words = ["--remote", place, "--endpoint", settings["endpoint"], "--region", settings["region"], *trust]
    return Remote(*words, env=env)


def in_bucket(bucket, *more):
    words = ["--remote", "s3://photos/of/family", "--endpoint", bucket.endpoint]
    return Remote(*words, *more, env=bucket.environment)


# Real stores, with the settings of Tests/Servers/run.py.
REAL = [name for name in ("store", "secure") if name in json.loads(os.environ.get("SATCHEL_TEST_S3", "{}"))]
