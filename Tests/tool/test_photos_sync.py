"""`satchel photos sync` and `probe`: two devices, over a directory, a bucket in this process and, with the
settings of Tests/Servers/run.py in SATCHEL_TEST_S3, a real store.
"""

import contextlib
import signal
import sqlite3
import threading
import time

import pytest
from bucket_server import ACCESS_KEY, SECRET_KEY
from conftest import row, watched
from interruption import interrupted, started
from remotes import Remote, in_bucket

NOTHING = {
    "downloaded": [], "uploaded": [], "conflicts": [], "repaired": [], "conflict_rows": 0, "failed": [],
    "rejected": [], "dry_run": False,
}  # fmt: skip


def test_two_devices_are_in_sync(remote, pictures, tablet):
    for number in range(60):
        pictures.add(f"{number}.jpg")
    pictures("scan")
    shards = sorted({int(photo["md5"][0], 16) for photo in pictures.photos()})
    report = remote.report(pictures)
    assert (report["uploaded"], report["downloaded"], report["failed"]) == (shards, [], [])
    assert report["bytes_up"] > 60 * 60
    report = remote.report(tablet)
    assert (report["uploaded"], report["downloaded"], report["failed"]) == ([], shards, [])
    assert tablet.names() == pictures.names()
    assert tablet.names("--starred", code=1) == []
    for device in (pictures, tablet):
        report = remote.report(device)
        assert {name: report[name] for name in NOTHING} == NOTHING
        assert report["requests"] == 1
        assert remote.sync(device).lines[0] == "nothing to transfer: both sides are in sync"
        status = device("status", "--json").json
        assert (any(shard["pending"] for shard in status["shards"]), status["user"]) == (False, "ana")
        assert status["last_sync"] is not None
    # A deletion is synced to the other device.
    (pictures.pictures / "7.jpg").unlink()
    pictures("scan", "--delete-missing")
    assert len(remote.report(pictures)["uploaded"]) == 1
    assert len(remote.report(tablet)["downloaded"]) == 1
    assert "7.jpg" not in tablet.names()
    for device in (pictures, tablet):
        device.run("check", str(device.store), subject="store")


def test_a_dry_run_transfers_nothing(remote, pictures, tablet):
    pictures.take(row("a.jpg", md5="a" * 32), row("0.jpg", md5="0" * 32))
    remote.sync(pictures)
    tablet.take(row("f.jpg", md5="f" * 32))
    before = tablet("status", "--json").json
    report = remote.report(tablet, "--dry-run", code=1)
    assert (report["downloaded"], report["uploaded"], report["dry_run"]) == ([0, 10], [15], True)
    lines = remote.sync(tablet, "--dry-run", code=1).lines
    assert lines[:2] == ["would download: 0 a", "would upload: f"]
    assert tablet("status", "--json").json == before
    assert tablet.names() == ["f.jpg"]
    remote.sync(tablet)
    assert remote.report(tablet, "--dry-run")["downloaded"] == []


@pytest.fixture
def apart(remote, pictures, tablet):
    """Two devices that synced a photo, and then renamed it differently; returns its shard."""
    pictures.take(row("old.jpg", md5="a" * 32), row("other.jpg", md5="b" * 32))
    remote.sync(pictures)
    remote.sync(tablet)
    pictures.take(row("dawn.jpg", md5="a" * 32))
    tablet.take(row("dusk.jpg", md5="a" * 32))
    remote.sync(pictures)
    return 10


def test_a_lost_change_is_kept_and_reapplied(apart, remote, pictures, tablet):
    result = remote.sync(tablet, code=1)
    assert f"changed on both sides: {apart:x}" in result.lines
    assert '1 change lost a conflict: see "satchel conflicts"' in result.lines
    assert tablet.names() == ["dawn.jpg", "other.jpg"]
    [conflict] = tablet.run("list", str(tablet.store), "--json", subject="conflicts", code=1).json
    sides = [conflict[side]["filename"] for side in ("local", "remote", "base")]
    assert sides == ["dusk.jpg", "dawn.jpg", "old.jpg"]
    tablet.run("resolve", str(tablet.store), str(conflict["id"]), "--keep", "local", subject="conflicts")
    assert remote.report(tablet)["uploaded"] == [apart]
    assert remote.report(pictures)["downloaded"] == [apart]
    assert pictures.names() == ["dusk.jpg", "other.jpg"]


def test_rows_are_merged_with_on_conflict_merge(apart, remote, pictures, tablet):
    report = remote.report(tablet, "--on-conflict", "merge")
    assert (report["conflicts"], report["uploaded"], report["conflict_rows"]) == ([apart], [apart], 0)
    assert tablet.run("list", str(tablet.store), subject="conflicts").out == "no conflicts\n"
    remote.sync(pictures)
    assert pictures.names() == ["dusk.jpg", "other.jpg"]


def test_the_declared_policy_applies_without_on_conflict(apart, remote, pictures, tablet):
    # Apps declare it; the tool has no command for that.
    with contextlib.closing(sqlite3.connect(tablet.store)) as store, store:
        store.execute("UPDATE photo_catalogue SET on_conflict = 1")
    assert tablet("status", "--json").json["on_conflict"] == "merge"
    report = remote.report(tablet)
    assert (report["conflicts"], report["uploaded"], report["conflict_rows"]) == ([apart], [apart], 0)
    assert "merge" in tablet("status").out


def test_a_shard_that_fails_is_reported_and_does_not_stop_others(pictures, tablet, tmp_path):
    remote = Remote("--remote", str(tmp_path / "remote"))
    pictures.take(row("a.jpg", md5="a" * 32), row("b.jpg", md5="b" * 32))
    remote.sync(pictures)
    shard = tmp_path / "remote/catalogs/ana/shards/a.csv"
    shard.unlink()
    shard.mkdir()
    result = remote.sync(tablet, code=1)
    assert "downloaded: b" in result.lines
    [failed] = [line for line in result.lines if line.startswith("failed: ")]
    assert failed.startswith("failed: shard a: ")
    assert tablet.names() == ["b.jpg"]
    [failure] = remote.report(tablet, code=1)["failed"]
    assert failure["shard"] == 10
    assert failure["message"]


def test_lines_of_the_remote_that_are_not_photos_are_reported(pictures, tablet, tmp_path):
    remote = Remote("--remote", str(tmp_path / "remote"))
    source = tmp_path / "source"
    source.mkdir()
    (source / "c.csv").write_text(row("c.jpg", md5="c" * 32) + "\n\x1b[31mno photo")
    pictures("import", source, code=1)
    remote.sync(pictures)
    result = remote.sync(tablet, code=1)
    [line] = [line for line in result.lines if line.startswith("shard c, line ")]
    assert line.endswith(": a row has 8 columns, or the 7 of format 5")
    assert "\x1b" not in result.out
    assert tablet.names() == ["c.jpg"]
    remote.sync(tablet)


def test_lines_that_the_remote_replaces_are_reported_with_their_text(pictures, tablet, tmp_path):
    remote = Remote("--remote", str(tmp_path / "remote"))
    pictures.take(row("c.jpg", md5="c" * 32))
    remote.sync(pictures)
    remote.sync(tablet)
    source = tmp_path / "source"
    source.mkdir()
    photo = (tmp_path / "remote/catalogs/ana/shards/c.csv").read_text()
    (source / "c.csv").write_text(f'\x1b[31mno "photo"\n{photo}')
    tablet("import", source, code=1)
    pictures.take(row("d.jpg", md5="c" * 31 + "d"))
    remote.sync(pictures)
    result = remote.sync(tablet, code=1)
    [line] = [line for line in result.lines if line.startswith("shard c, line 1: ")]
    assert line.endswith('[31mno "photo"')
    assert "\x1b" not in result.out
    assert tablet.names() == ["d.jpg"]
    remote.sync(tablet)


def test_another_remote_is_refused_until_it_is_asked_for(pictures, tablet, tmp_path):
    here, there = Remote("--remote", str(tmp_path / "here")), Remote("--remote", str(tmp_path / "there"))
    pictures.take(row("a.jpg"))
    tablet.take(row("b.jpg"))
    here.sync(pictures)
    there.sync(tablet)
    result = there.sync(pictures, code=2)
    assert result.out == ""
    assert result.err.count("\n") == 1
    assert pictures("detach").out == "detached from the remote of user ana\n"
    assert pictures("detach", "--json").json == {"user": None}
    there.sync(pictures, code=2)
    there.sync(pictures, "--first", "upload")
    assert sorted(pictures.names()) == ["a.jpg", "b.jpg"]


def test_secrets_are_nowhere(bucket, pictures):
    pictures.take(row("a.jpg"))
    remote = in_bucket(bucket)
    said = [remote.sync(pictures), remote.sync(pictures, "--json")]
    assert any(ACCESS_KEY in headers.get("Authorization", "") for _, _, headers in bucket.requests)
    assert not any(SECRET_KEY in str(headers) for _, _, headers in bucket.requests)
    paths = {path for _, path, _ in bucket.requests}
    # A listing is a request for the bucket.
    assert all(path.startswith("/photos/of/family/catalogs/ana/") for path in paths - {"/photos"})
    for wrong in (["--remote", "s3://AKIA:geheim@photos"], ["--remote", "https://ana:geheim@host/x"]):
        result = pictures("sync", "--user", "ana", *wrong, code=2, env=bucket.environment)
        assert "geheim" not in result.err
        said.append(result)
    with_password = Remote("--remote", "s3://photos", "--endpoint", "https://ana:geheim@host", env=remote.env)
    result = with_password.sync(pictures, code=2)
    assert "geheim" not in result.err
    no_keys = {**bucket.environment, "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}
    result = Remote(*remote.words[2:], env=no_keys).sync(pictures, code=2)
    assert "no credentials" in result.err
    assert all(SECRET_KEY not in result.out + result.err for result in said)
    assert SECRET_KEY.encode() not in pictures.store.read_bytes()


def test_a_store_without_conditional_writes_is_refused(bucket, pictures):
    bucket.ignores_conditions = True
    pictures.take(row("a.jpg"))
    remote = in_bucket(bucket)
    assert "has no conditional writes" in remote.sync(pictures, code=2).err
    assert bucket.objects == {}
    remote.sync(pictures, "--allow-unsafe-remote")
    assert "/photos/of/family/catalogs/ana/manifest.json" in bucket.objects


def test_probing(bucket, remote, run):
    probe = ["probe", *remote.words]
    lines = run(*probe, subject="photos", env=remote.env).out.splitlines()
    assert lines[:3] == ["supported", "may list: yes", "may delete: yes"]
    found = run(*probe, "--json", subject="photos", env=remote.env).json
    assert (found["supported"], found["reason"], found["list"], found["delete"]) == (True, None, True, True)
    bucket.ignores_conditions = True
    ignoring = in_bucket(bucket)
    result = run("probe", *ignoring.words, subject="photos", env=ignoring.env, code=1)
    assert result.out.startswith("not supported: ")
    result = run("probe", *ignoring.words, "--json", subject="photos", env=ignoring.env, code=1).json
    assert result["supported"] is False
    assert result["reason"]
    # This bucket has no uploads in parts, and ignores ranges.
    assert (result["parts"], result["ranges"], result["checksum_required"]) == (False, False, False)
    assert bucket.objects == {}


def test_keys_of_a_profile(bucket, pictures, tmp_path):
    pictures.take(row("a.jpg"))
    (tmp_path / "keys").write_text(
        f"[there]\naws_access_key_id = {ACCESS_KEY}\naws_secret_access_key = {SECRET_KEY}\n"
    )
    given = {
        **bucket.environment,
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "keys"),
        "HOME": str(tmp_path),
    }
    env = {**given, "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}
    remote = Remote(*in_bucket(bucket).words[2:], "--profile", "there", env=env)
    assert "1 request" not in remote.sync(pictures).out
    said = Remote(*in_bucket(bucket).words[2:], "--profile", "nowhere", env=env).sync(pictures, code=2)
    assert 'profile "nowhere"' in said.err
    said = Remote("--remote", str(tmp_path), "--profile", "there").sync(pictures, code=2)
    assert "--profile" in said.err


def words_of(pictures, remote):
    return ["photos", "sync", str(pictures.store), str(pictures.pictures), *remote.words]


def test_an_interrupted_sync_leaves_both_sides_sound(bucket, pictures, tablet):
    """The bucket does not answer for shard 5; Ctrl-C ends the wait, and the next sync continues."""
    remote = in_bucket(bucket, "--parallel", "1")
    pictures.take(*(row(f"{digit}.jpg", md5=f"{digit:x}" * 32) for digit in range(16)))

    def uploads_shard_5(method, path):
        return method == "PUT" and path.endswith("/shards/5.csv")

    interrupted(bucket, words_of(pictures, remote), remote.env, at=uploads_shard_5)
    remote.sync(pictures)
    remote.sync(tablet)
    assert len(tablet.names()) == 16
    assert remote.report(pictures)["requests"] == 1
    pictures.run("check", str(pictures.store), subject="store")


def test_a_second_signal_terminates_at_once(bucket, pictures):
    """A sync that waits for a response ends at the second signal."""
    pictures.take(row("a.jpg"))
    stuck = threading.Event()
    bucket.before = lambda *_: (stuck.set(), time.sleep(3))
    remote = in_bucket(bucket)
    with started(words_of(pictures, remote), remote.env) as process:
        assert stuck.wait(120)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)
    assert process.returncode == -signal.SIGTERM


def test_a_terminal_shows_a_bar_and_other_output_gets_lines(bucket, pictures, tablet):
    pictures.take(*(row(f"{digit}.jpg", md5=f"{digit:x}" * 32) for digit in range(16)))
    remote = in_bucket(bucket, "--parallel", "1")
    bucket.before = lambda method, path: time.sleep(0.05 if "/shards/" in path else 0)
    words = ["sync", str(pictures.store), str(pictures.pictures), *remote.words]
    seen = watched(words, pictures.folder, subject="photos", **remote.env)
    assert "█" in seen
    assert "of 16, " in seen
    assert " up, " in seen
    assert "\r\x1b[Kuploaded: 0 1 2 3" in seen
    # Without a terminal: a line every ten seconds.
    bucket.before = lambda method, path: time.sleep(0.8 if "/shards/" in path else 0)
    began = time.monotonic()
    result = remote.sync(tablet)
    assert "█" not in result.err
    assert result.err.startswith("satchel: ")
    assert " of 16, " in result.err
    assert result.err.count("\n") <= (time.monotonic() - began) / 10 + 2


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (["--user", "../x"], "--user: "),
        (["--user", ".."], "--user: "),
        (["--user", ""], "--user: "),
        (["--remote", ""], "--remote: empty"),
        (["--remote", "ftp://host/x"], "--remote: neither a directory nor s3://bucket/prefix"),
        (["--remote", "s3://"], "bucket"),
        (["--remote", "s3://Not_A_Bucket"], "bucket"),
        (["--remote", "s3://photos", "--endpoint", "host"], "https://"),
        (["--region", "eu"], "need a remote like s3://bucket"),
        (["--parallel", "17"], "--parallel: 17 is not in 1 to 16"),
        (["--on-conflict", "newest"], "'--on-conflict <on-conflict>'"),
        (["--dry-run", "--create"], "--dry-run and --create exclude each other"),
        (["--remote", "missing/parent/place"], ""),
        (["--remote", "nowhere", "--dry-run"], "nowhere: does not exist"),
    ],
)
def test_invalid_arguments(pictures, wrong, says, bucket, tmp_path):
    pictures.take(row("a.jpg"))
    words = ["sync", str(pictures.store), str(pictures.pictures)]
    words += [] if "--user" in wrong else ["--user", "ana"]
    words += [] if "--remote" in wrong else ["--remote", str(tmp_path / "remote")]
    result = pictures.run(*words, *wrong, subject="photos", code=2, env=bucket.environment)
    assert says in result.err
    assert result.out == ""
    assert not (tmp_path / "remote").exists()


def test_two_tools_at_once(pictures, tablet, tmp_path):
    """Two devices sync at the same time, and no reported photo is lost."""
    remote = Remote("--remote", str(tmp_path / "remote"))
    for round in range(3):
        for device, name in ((pictures, "p"), (tablet, "t")):
            device.add(f"{name}{round}.jpg")
            device("scan")
        running = [started(words_of(device, remote), remote.env) for device in (pictures, tablet)]
        for process in running:
            out, err = process.communicate(timeout=60)
            assert process.returncode in (0, 1), err
            assert b"failed" not in out
    for device in (pictures, tablet, pictures):
        remote.sync(device)
    assert len(pictures.names()) == 6
    assert sorted(pictures.names()) == sorted(tablet.names())


def test_verify_reports_damage_and_repairs_it(pictures, tablet, tmp_path):
    remote = Remote("--remote", str(tmp_path / "remote"))
    pictures.take(row("a.jpg", md5="a" * 32), row("0.jpg", md5="0" * 32))
    remote.sync(pictures)
    lines = pictures("verify", *remote.words).lines
    assert lines[0] == "all shards match the manifest"
    path = tmp_path / "remote/catalogs/ana/shards/a.csv"
    sound = path.read_bytes()
    path.write_bytes(sound[:20])
    assert pictures("verify", *remote.words, code=1).lines[0] == "shard a: cut"
    report = pictures("verify", *remote.words, "--json", code=1).json
    assert (report["ok"], report["shards"][10]["state"]) == (False, "cut")
    remote.sync(tablet, code=1)
    assert "shard a: corrupt: " in tablet("verify", *remote.words, "--repair", code=1).out
    assert pictures("verify", *remote.words, "--repair").lines[0] == "shard a: cut, repaired"
    assert path.read_bytes() == sound
    assert remote.report(tablet)["downloaded"] == [10]
