"""The commands of offline regions."""

import json
from pathlib import Path

import satchel
from conftest import ROOT

PORTO = {"country_code": "PT", "admin_area": "Porto", "locality": "Porto"}


def folder_of(path: Path) -> Path:
    """Makes a folder with a delivery that refers to a picture."""
    folder = path / "porto"
    (folder / "pictures").mkdir(parents=True)
    picture = (ROOT / "Tests/Fixtures/photos/baseline.jpg").read_bytes()
    (folder / "pictures/bridge.jpg").write_bytes(picture)
    bridge = {
        "local_name": "Ponte",
        "image": {"_asset": {"file": "pictures/bridge.jpg", "type": "image/jpeg"}},
        "_storage": {"entity_id": "sights:bridge", "scope": "locality"},
    }
    delivery = {"location": PORTO, "sections": [{"section": "sights", "content": {"items": [bridge]}}]}
    (folder / "1.json").write_text(json.dumps(delivery))
    return folder


def test_a_region_is_built_imported_shown_exported_and_deleted(run, tmp_path):
    folder, file, store = folder_of(tmp_path), tmp_path / "porto.region", tmp_path / "guide.satchel"
    built = run("region", "build", f"{folder}/", "-o", str(file), "--json", subject=None)
    assert (built.json["sections"], built.json["entities"], built.json["assets"]) == (1, 1, 1)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["porto", "porto.region"]
    satchel.open(store).close()
    run("region", "import", str(store), str(file), subject=None)
    shown = run("region", "show", str(store), "porto", "--json", subject=None).json
    assert (shown["state"], shown["size"]["assets"]) == ("complete", 1)
    assert "complete" in run("region", "list", str(store), subject=None).out
    assert "1 entity" in run("region", "show", str(store), "porto", subject=None).out
    with satchel.open(store) as opened:
        image = opened.catalogue.load(PORTO, "sights").content["items"][0]["image"]
        picture = (folder / "pictures/bridge.jpg").read_bytes()
        assert opened.assets.get(image).bytes() == picture
        assert image["_asset"]["type"] == "image/jpeg"
    again = run(
        "region", "export", str(store), "porto", "-o", str(tmp_path / "2.region"), "--json", subject=None
    )
    assert again.json["assets"] == 1
    run("region", "delete", str(store), "porto", subject=None)
    for words in (["show"], ["delete"], ["export", "-o", str(tmp_path / "3.region")]):
        missing = run("region", words[0], str(store), "porto", *words[1:], subject=None, code=1)
        assert "there is no region porto" in missing.err
    assert run("region", "list", str(store), "--json", subject=None).json == []


def test_what_a_region_keeps_is_shown(run, tmp_path):
    folder, file, store = folder_of(tmp_path), tmp_path / "porto.region", tmp_path / "guide.satchel"
    run("region", "build", f"{folder}/", "-o", str(file), subject=None)
    satchel.open(store).close()
    for command in ("info", "stats"):
        lines = run(command, str(store), subject="store").lines
        assert [line for line in lines if line.startswith(("regions", "freshness"))] == []
    run("region", "import", str(store), str(file), subject=None)
    [region] = run("region", "list", str(store), "--json", subject=None).json
    found = run("info", str(store), "--json", subject="store").json["catalogue"]
    assert found == run("stats", str(store), "--json", subject="store").json["catalogue"]
    size = region["size"]
    assert (found["regions"], found["pinned_sections"], found["pinned_entities"]) == (1, 1, 1)
    assert (found["pinned_bytes"], found["pinned_asset_bytes"]) == (size["bytes"], size["asset_bytes"])
    for command in ("info", "stats"):
        lines = [line.split(None, 1) for line in run(command, str(store), subject="store").lines]
        [(_, text)] = [line for line in lines if line[:1] == ["regions"]]
        assert text.startswith(f"1 region: 1 section and 1 entity, {size['bytes']} bytes, with assets of ")
        [(_, text)] = [line for line in lines if line[:1] == ["freshness"]]
        assert text.startswith("oldest content of 2")
    pruned = run("prune", str(store), "--max-bytes", "0", subject="catalogue")
    assert f"Offline regions keep {size['bytes']} bytes that were selected." in pruned.lines
    pruned = run("prune", str(store), "--max-bytes", "0", "--json", subject="catalogue").json
    assert pruned["pinned_bytes"] == pruned["over_budget"] == size["bytes"]
    # The picture has no URL: it would stay without the region as well.
    pruned = run("prune", str(store), "--max-bytes", "0", "--json", subject="assets").json
    assert (pruned["pinned_bytes"], pruned["only_copies"]) == (0, size["asset_bytes"])


def test_a_folder_with_a_problem_makes_no_file(run, tmp_path):
    folder, file = folder_of(tmp_path), tmp_path / "porto.region"
    for name in ("../guide.satchel", "/etc/passwd", "absent.jpg", ""):
        delivery = {
            "location": PORTO,
            "sections": [{"section": "a", "content": {"x": {"_asset": {"file": name}}}}],
        }
        (folder / "2.json").write_text(json.dumps(delivery))
        assert "2.json" in run("region", "build", str(folder), "-o", str(file), subject=None, code=1).err
        assert not file.exists()
    (folder / "2.json").write_text("{")
    run("region", "build", str(folder), "-o", str(file), subject=None, code=1)
    (tmp_path / "empty").mkdir()
    run("region", "build", str(tmp_path / "empty"), "-o", str(file), subject=None, code=2)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["empty", "porto"]
