"""`satchel sync` with assets: what it downloads and uploads, and what its report says."""

import hashlib

import pytest
import satchel
from conftest import Planner
from remotes import Remote

PICTURES = [bytes([number]) * 100_000 for number in range(3)]


@pytest.fixture
def devices(planner, second):
    """Two stores; a record of the first has three pictures."""
    with satchel.open(planner.path) as store:
        pictures = [store.assets.put(data, type="image/jpeg") for data in PICTURES]
        store.records("courses").put("painting", {"pictures": pictures})
    return planner, second


def states(device: Planner):
    with satchel.open(device.path) as store:
        return sorted(each.state for each in store.assets.list())


def test_assets_are_not_downloaded_unless_asked_for(remote, devices):
    planner, second = devices
    assert planner.sync(remote).lines[:2] == ["records: 4 uploaded", "assets: 3 uploaded"]
    report = second.sync(remote, "--assets", "lazy", "--json").json
    assert report["assets"] == {
        "uploaded": 0,
        "downloaded": 0,
        "repaired": 0,
        "dropped": 0,
        "failed": [],
    }
    assert states(second) == ["remote"] * 3
    assert second.sync(remote, "--assets", "150000").lines[0] == "assets: 1 downloaded"
    assert second.sync(remote, "--assets", "all", "--json").json["assets"]["downloaded"] == 2
    assert states(second) == ["here"] * 3
    assert second.sync(remote, "--assets=all").lines[0] == "nothing to transfer: both sides are in sync"


def test_uploads_are_held_back(remote, devices):
    planner, second = devices
    result = planner.sync(remote, "--no-asset-uploads", code=1)
    assert result.lines[0] == "records: 3 uploaded"
    digest = min(hashlib.sha256(data).hexdigest() for data in PICTURES)
    assert result.lines[1] == (
        f"failed: courses/painting: waits for asset {digest}, which this sync does not upload"
    )
    report = planner.sync(remote, "--no-asset-uploads", "--json", code=1).json
    assert [each["id"] for each in report["failed"]] == ["painting"]
    second.sync(remote)
    assert "painting" not in second.ids()
    assert planner.sync(remote).lines[:2] == ["records: 1 uploaded", "assets: 3 uploaded"]
    second.sync(remote)
    assert "painting" in second.ids()


def test_an_asset_that_cannot_be_downloaded_needs_attention(tmp_path, devices):
    planner, second = devices
    remote = Remote("--remote", str(tmp_path / "cloud"))
    planner.sync(remote)
    objects = [
        each for each in (tmp_path / "cloud").rglob("*") if each.is_file() and each.stat().st_size > 90_000
    ]
    assert objects
    for each in objects:
        each.unlink()
    result = second.sync(remote, "--assets", "all", code=1)
    failed = [line for line in result.lines if line.startswith("failed: asset ")]
    assert len(failed) == 3
    assert sorted(line.split()[2].rstrip(":") for line in failed) == sorted(
        hashlib.sha256(data).hexdigest() for data in PICTURES
    )
    assert "painting" in second.ids()


@pytest.mark.parametrize("value", ["", "none", "-1", "1.5", "1 MB", "9223372036854775808"])
def test_what_is_no_choice_of_assets_is_refused(planner, tmp_path, value):
    result = planner.sync(Remote("--remote", str(tmp_path / "cloud")), f"--assets={value}", code=2)
    assert "--assets" in result.err
