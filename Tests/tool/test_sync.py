"""`satchel sync` and `store detach`: two devices, over a directory, a bucket in this process and, with the
settings of Tests/Servers/run.py in SATCHEL_TEST_S3, a real store.
"""

import re
import shutil
import time

import pytest
from bucket_server import ACCESS_KEY, SECRET_KEY
from conftest import COURSES, Planner, row, watched
from interruption import interrupted, started
from remotes import Remote, in_bucket

NOTHING = {
    "downloaded": 0, "uploaded": 0, "deleted_locally": 0, "deleted_remotely": 0, "merged": 0, "conflicts": 0,
    "lost": 0, "waiting": 0,
}  # fmt: skip


def test_two_devices_are_in_sync(remote, planner, second):
    report = planner.sync(remote, "--json").json
    assert report["records"] == {**NOTHING, "uploaded": 3}
    assert (report["state"], report["photos"], report["failed"]) == (NOTHING, None, [])
    assert report["dry_run"] is False
    assert second.sync(remote).lines[0] == "records: 3 downloaded"
    assert sorted(second.ids()) == sorted(name for name, _ in COURSES)
    for device in (planner, second):
        result = device.sync(remote)
        assert result.lines[0] == "nothing to transfer: both sides are in sync"
        assert result.lines[1].startswith("1 request, 0 bytes up, ")
        assert result.err == ""
        report = device.sync(remote, "--json").json
        assert (report["unchanged"], report["records"], report["requests"]) == (True, NOTHING, 1)
    second("put", "algebra", '{"credits": 9}')
    second("delete", "logic")
    second("put", "sets", "{}")
    assert second.sync(remote).lines[0] == "records: 2 uploaded, 1 deleted remotely"
    assert planner.sync(remote).lines[0] == "records: 2 downloaded, 1 deleted locally"
    assert planner.document("algebra") == {"credits": 9}
    assert sorted(planner.ids()) == sorted(second.ids()) == ["algebra", "sets", "topology"]
    assert {record["sync_status"] for record in planner("list", "--json").json} == {"synced"}
    for device in (planner, second):
        device.run("check", device.name, subject="store")


def test_a_dry_run_transfers_nothing(remote, planner, second):
    planner.sync(remote)
    second.sync(remote)
    planner("put", "algebra", '{"credits": 9}')
    planner("delete", "logic")
    planner.sync(remote)
    second("put", "sets", "{}")
    second("delete", "topology")
    result = second.sync(remote, "--dry-run", code=1)
    assert sorted(result.lines[:-1]) == [
        "would delete locally   courses/logic", "would delete remotely  courses/topology",
        "would download         courses/algebra", "would upload           courses/sets",
    ]  # fmt: skip
    report = second.sync(remote, "--dry-run", "--json", code=1).json
    assert (report["dry_run"], report["bytes_up"]) == (True, 0)
    assert {(planned["id"], planned["action"]) for planned in report["planned"]} == {
        ("logic", "delete_locally"), ("topology", "delete_remotely"), ("algebra", "download"),
        ("sets", "upload"),
    }  # fmt: skip
    assert sorted(second.ids()) == ["algebra", "logic", "sets"]
    assert sorted(path.name for path in second.folder.iterdir() if "preview" in path.name) == []
    assert second.sync(remote).lines[0] == (
        "records: 1 downloaded, 1 uploaded, 1 deleted locally, 1 deleted remotely"
    )
    assert second.sync(remote, "--dry-run").lines[0] == "nothing to transfer: both sides are in sync"
    lines = planner.sync(remote, "--dry-run", code=1).lines
    assert sorted(lines[:-1]) == [
        "would delete locally   courses/topology", "would download         courses/sets",
    ]  # fmt: skip


def test_the_photo_catalogue_of_the_same_remote_is_synced(tmp_path, planner, second, pictures, tablet):
    remote = Remote("--remote", str(tmp_path / "remote"))
    pictures.store, tablet.store = planner.path, second.path
    pictures.take(row("0.jpg", md5="0" * 32))
    remote.sync(pictures)
    remote.sync(tablet)
    pictures.take(row("a.jpg", md5="a" * 32))
    lines = planner.sync(remote, "--dry-run", code=1).lines
    assert "photos: would upload: a" in lines
    assert "would upload  courses/algebra" in [re.sub(" {2,}", "  ", line) for line in lines]
    assert planner.sync(remote).lines[:2] == ["records: 3 uploaded", "photos: uploaded: a"]
    report = second.sync(remote, "--json").json
    assert (report["photos"]["downloaded"], report["records"]["downloaded"]) == ([10], 3)
    assert tablet.names() == ["0.jpg", "a.jpg"]
    assert second.sync(remote).lines[0] == "nothing to transfer: both sides are in sync"


def test_photos_that_were_never_sent_are_named(tmp_path, planner, pictures):
    remote = Remote("--remote", str(tmp_path / "remote"))
    planner.sync(remote)
    pictures.store = planner.path
    pictures.take(row("0.jpg", md5="0" * 32))
    directory = str(pictures.pictures)
    lines = planner.sync(remote).lines
    assert lines[0] == f'photos of {directory} are not sent: see "satchel photos sync"'
    assert planner.sync(remote, "--json").json["unsent_photos"] == [directory]
    remote.sync(pictures)
    assert planner.sync(remote).lines[0] == "nothing to transfer: both sides are in sync"


def test_another_remote_is_refused_until_it_is_asked_for(planner, tmp_path):
    here, there = Remote("--remote", str(tmp_path / "here")), Remote("--remote", str(tmp_path / "there"))
    planner.sync(here)
    result = planner.sync(there, code=2)
    assert result.out == ""
    assert result.err.count("\n") == 1
    assert "sign_out" in result.err
    assert planner.run("detach", planner.name, subject="store").out == "planner.satchel: detached\n"
    assert planner.run("detach", planner.name, "--json", subject="store").json["detached"] is True
    absent = planner.run(
        "detach", planner.name, "--fetch-assets", str(tmp_path / "no"), subject="store", code=2
    )
    assert "does not exist" in absent.err
    assert {record["sync_status"] for record in planner("list", "--json").json} == {"local"}
    assert "sign_out" in planner.sync(there, code=2).err
    assert planner.sync(there, "--first", "upload").lines[0] == "records: 3 uploaded"
    assert "does not exist" in planner.run("detach", "nowhere.satchel", subject="store", code=2).err
    # Content that is equal is not transferred again.
    planner.run("detach", planner.name, subject="store")
    assert planner.sync(here, "--json", "--first", "upload").json["records"]["uploaded"] == 0


def test_signing_out_and_deleting_an_account(planner, tmp_path):
    remote = Remote("--remote", str(tmp_path / "remote"))
    planner.sync(remote)
    planner("put", "late", "{}")
    refused = planner.run("sign-out", planner.name, subject="store", code=1)
    assert "1 changes were never sent" in refused.err
    assert "--discard-unsent" in refused.err
    arguments = ["sign-out", planner.name, "--discard-unsent"]
    assert planner.run(*arguments, subject="store").out == "planner.satchel: signed out\n"
    assert planner.run(*arguments, "--json", subject="store").json == {"signed_out": True}
    assert planner("list", "--json", code=1).json == []
    assert planner.sync(remote, "--json").json["records"]["downloaded"] == 3
    deletion = ["delete-account", planner.name, *remote.words]
    assert "account closed" in planner.run(*deletion, subject="store").out
    assert "account closed" in planner.sync(remote, code=2).err
    assert planner.sync(remote, "--first", "upload").lines[0] == "records: 3 uploaded"


def test_an_empty_remote_is_not_written_to(planner, tmp_path):
    remote = Remote("--remote", str(tmp_path / "remote"))
    planner.sync(remote)
    shutil.rmtree(tmp_path / "remote/records")
    assert "the remote is empty" in planner.sync(remote, code=2).err
    assert not (tmp_path / "remote/records").exists()
    assert planner.sync(remote, "--recreate").lines[0] == "records: 3 uploaded"


def test_a_record_that_cannot_be_sent_does_not_stop_the_others(planner, second, tmp_path):
    remote = Remote("--remote", str(tmp_path / "remote"))
    put = planner("put", "big", "-", text=b'{"text": "%s"}' % (b"x" * (33 << 20)))
    reason = "a string of 34603008 bytes; put such content as an asset, and refer to it"
    assert put.err == f"satchel: courses/big: /text: {reason}\n"
    result = planner.sync(remote, code=1)
    assert result.lines[0] == "records: 3 uploaded"
    assert result.lines[1].startswith("failed: courses/big: a document that is synchronized has at most ")
    second.sync(remote)
    assert len(second.ids()) == 3


def test_a_part_of_the_remote_that_is_lost(planner, second, tmp_path):
    remote = Remote("--remote", str(tmp_path / "remote"))
    planner.take(*((f"long-{number}", {"text": "x" * 1000}) for number in range(40)))
    planner.sync(remote)
    files = [path for path in (tmp_path / "remote").rglob("*") if path.is_file()]
    [pack] = [path for path in files if path.stat().st_size > 30_000]
    pack.unlink()
    for more in ([], ["--dry-run"]):
        result = second.sync(remote, *more, code=2)
        assert result.out == ""
        assert "missing or damaged" in result.err
        assert result.err.endswith("; --accept-loss continues without the lost part of the remote\n")
    result = second.sync(remote, "--accept-loss", code=1)
    assert any(re.fullmatch(r"lost: 4\d entries in .+", line) for line in result.lines)
    # The device that has it sends it again.
    planner.sync(remote)
    second.sync(remote)
    assert sorted(second.ids("--all")) == sorted(planner.ids("--all"))


def test_secrets_are_nowhere(bucket, planner):
    remote = in_bucket(bucket)
    said = [planner.sync(remote), planner.sync(remote, "--json")]
    assert any(ACCESS_KEY in headers.get("Authorization", "") for _, _, headers in bucket.requests)
    no_keys = {**bucket.environment, "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}
    result = planner.sync(Remote(*remote.words[2:], env=no_keys), code=2)
    assert "no credentials" in result.err
    assert all(SECRET_KEY not in result.out + result.err for result in [*said, result])
    assert SECRET_KEY.encode() not in planner.path.read_bytes()


def test_a_store_without_conditional_writes_is_refused(bucket, planner):
    bucket.ignores_conditions = True
    assert "has no conditional writes" in planner.sync(in_bucket(bucket), code=2).err
    assert bucket.objects == {}


def test_an_interrupted_sync_leaves_both_sides_sound(bucket, planner, second):
    """The bucket does not answer a write; Ctrl-C ends the wait, and the next sync continues."""
    remote = in_bucket(bucket)
    planner.sync(remote)
    planner("put", "sets", "{}")
    words = ["sync", str(planner.path), *remote.words]
    interrupted(bucket, words, remote.env, at=lambda method, path: method == "PUT")
    planner.sync(remote)
    second.sync(remote)
    assert len(second.ids()) == 4
    planner.run("check", planner.name, subject="store")


def test_a_terminal_shows_a_bar_and_other_output_gets_lines(bucket, planner, second):
    planner.take(*((f"long-{number}", {"text": "x" * 1000}) for number in range(40)))
    remote = in_bucket(bucket)
    bucket.before = lambda *_: time.sleep(0.2)
    seen = watched([planner.name, *remote.words], planner.folder, subject="sync", **remote.env)
    assert "uploading, " in seen
    assert "\r\x1b[Krecords: 43 uploaded" in seen
    seen = watched([second.name, *remote.words, "--quiet"], planner.folder, subject="sync", **remote.env)
    assert "\x1b" not in seen
    # Without a terminal: a line every ten seconds.
    planner("put", "sets", "{}")
    bucket.before = lambda *_: time.sleep(11)
    result = planner.sync(remote)
    line = r"satchel: (\d+( of \d+)?, )?(downloading|applying|uploading), .* up, .* down\n"
    assert re.fullmatch(f"({line})+", result.err)


def test_two_tools_at_once(planner, second, tmp_path):
    """Two devices sync at the same time, and no record is lost."""
    remote = Remote("--remote", str(tmp_path / "remote"))
    for round in range(3):
        for device, name in ((planner, "p"), (second, "s")):
            device("put", f"{name}{round}", "{}")
        running = [
            started(["sync", str(device.path), *remote.words], remote.env) for device in (planner, second)
        ]
        for process in running:
            _, err = process.communicate(timeout=60)
            assert process.returncode == 0, err
    for device in (planner, second, planner):
        device.sync(remote)
    assert len(planner.ids()) == 9
    assert sorted(planner.ids()) == sorted(second.ids())


def test_an_encrypted_remote_needs_the_key(planner, second, tmp_path):
    (tmp_path / "shared").mkdir()
    (tmp_path / "key").write_text("0f" * 32 + "\n")
    (tmp_path / "short").write_text("0f")
    remote = Remote("--remote", str(tmp_path / "shared"))
    assert planner.sync(remote, "--key-file", str(tmp_path / "key")).lines[0] == "records: 3 uploaded"
    stored = b"".join(path.read_bytes() for path in (tmp_path / "shared").rglob("*") if path.is_file())
    assert b"algebra" not in stored
    refused = second.sync(remote, code=2)
    assert "key" in refused.err
    short = second.sync(remote, "--key-file", str(tmp_path / "short"), code=2)
    assert "64 hexadecimal digits" in short.err
    options = ("--key-file", str(tmp_path / "key"), "--verify", "--purge")
    assert second.sync(remote, *options).lines[0] == "records: 3 downloaded"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (["--user", ".."], "--user: "),
        (["--remote", ""], "--remote: empty"),
        (["--remote", "ftp://host/x"], "--remote: neither a directory nor s3://bucket/prefix"),
        (["--region", "eu"], "need a remote like s3://bucket"),
        (["--parallel", "0"], "--parallel: 0 is not in 1 to 16"),
        (["--dry-run", "--accept-loss"], "--dry-run and --accept-loss exclude each other"),
        (["--remote", "missing/parent/place"], ""),
        (["--remote", "nowhere", "--dry-run"], "nowhere: does not exist"),
    ],
)
def test_invalid_arguments(planner, wrong, says, tmp_path):
    words = [planner.name]
    words += [] if "--user" in wrong else ["--user", "ana"]
    words += [] if "--remote" in wrong else ["--remote", str(tmp_path / "remote")]
    result = planner.run("sync", *words, *wrong, subject=None, code=2)
    assert says in result.err
    assert result.out == ""
    assert not (tmp_path / "remote").exists()


def test_a_store_that_does_not_exist(run, tmp_path):
    remote = Remote("--remote", str(tmp_path / "remote"))
    result = Planner(run, tmp_path, "nowhere.satchel").sync(remote, code=2)
    assert result.err == "satchel: nowhere.satchel: does not exist\n"
    assert not (tmp_path / "nowhere.satchel").exists()


def test_help_has_examples_and_exit_codes(run):
    text = run("sync", "--help", subject=None).out
    assert len(re.findall(r"^  .*satchel sync ", text, re.MULTILINE)) >= 2
    assert "Exit codes: 0 " in text
    assert "2 could not run" in re.sub(r"\s+", " ", text)
    assert "USAGE: satchel sync" in text
