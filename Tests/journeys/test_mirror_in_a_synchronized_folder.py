"""A mirror in a folder that another program synchronizes.

Ada keeps her recipes as a file that she can read, in a folder that her laptop shares with her desk by a
program of its own. The file is edited in a text editor, arrives half written, and has a copy of a conflict
next to it.
"""

import json
import shutil

import pytest
import satchel
from journey import documents


def test_a_mirror_is_carried_to_another_machine_and_back(device, tmp_path):
    laptop, desk = device("laptop"), device("desk")
    shared = {"laptop": tmp_path / "laptop" / "shared", "desk": tmp_path / "desk" / "shared"}
    for folder in shared.values():
        folder.mkdir()
    file = {name: folder / "recipes.json" for name, folder in shared.items()}

    # The laptop writes the file, the other program carries it, and the desk adopts it.
    recipes = laptop.records("recipes")
    recipes.mirror(file["laptop"])
    recipes.put("bread", {"flour": 500, "water": 350})
    recipes.put("soup", {"water": 1000})
    laptop.flush()
    shutil.copy(file["laptop"], file["desk"])
    on_desk = desk.records("recipes")
    assert on_desk.mirror(file["desk"]).imported == 2
    assert documents(on_desk) == documents(recipes)

    # The desk writes while the file is edited in an editor: neither side is overwritten, and the difference
    # is named.
    on_desk.put("cake", {"flour": 300})
    desk.flush()
    edited = json.loads(file["desk"].read_text())
    edited["soup"]["salt"] = 5
    file["desk"].write_text(json.dumps(edited))
    on_desk.put("tea", {"water": 250})
    with pytest.raises(
        satchel.InvalidArgument, match=r"1 different \(soup at /salt\), 1 only in the store \(tea\)"
    ):
        desk.flush()
    assert json.loads(file["desk"].read_text()) == edited
    assert {each.id for each in on_desk.verify_mirror()} == {"soup", "tea"}
    on_desk.close()

    # She decides that the file wins where both differ. What only the store has stays.
    on_desk = desk.records("recipes")
    with pytest.raises(satchel.InvalidArgument, match="differs"):
        on_desk.mirror(file["desk"])
    on_desk.mirror(file["desk"], prefer="file")
    assert on_desk.get("soup") == {"water": 1000, "salt": 5}
    assert on_desk.get("tea") == {"water": 250}
    desk.flush()
    assert json.loads(file["desk"].read_text()) == documents(on_desk)

    # The other program carries it back, half of it at first. The laptop refuses that, says where, and keeps
    # both.
    recipes.close()
    whole = file["desk"].read_text()
    file["laptop"].write_text(whole[: len(whole) // 2])
    recipes = laptop.records("recipes")
    before = documents(recipes)
    with pytest.raises(satchel.InvalidArgument) as half:
        recipes.mirror(file["laptop"])
    assert (half.value.subject, half.value.collection) == ("records", "recipes")
    assert half.value.line is not None
    assert documents(recipes) == before
    assert file["laptop"].read_text() == whole[: len(whole) // 2]

    # The rest arrives, and a copy of a conflict next to it, which does not concern the store.
    file["laptop"].write_text(whole)
    (shared["laptop"] / "recipes.sync-conflict.json").write_text("{}")
    recipes.mirror(file["laptop"], prefer="file")
    assert documents(recipes) == documents(on_desk)
    assert (shared["laptop"] / "recipes.sync-conflict.json").read_text() == "{}"
    laptop.flush()
    assert recipes.verify_mirror() == []
    assert on_desk.verify_mirror() == []


def test_a_mirror_that_is_a_link_stays_one(device, tmp_path):
    # The shared folder is elsewhere, and the app's folder has a link to the file in it.
    laptop = device("laptop")
    target = tmp_path / "shared.json"
    target.write_text('{"bread": {"flour": 500}}')
    link = tmp_path / "laptop" / "recipes.json"
    link.symlink_to(target)
    recipes = laptop.records("recipes")
    recipes.mirror(link)
    recipes.put("soup", {"water": 1000})
    laptop.flush()
    assert link.is_symlink()
    assert json.loads(target.read_text()) == {"bread": {"flour": 500}, "soup": {"water": 1000}}
