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
