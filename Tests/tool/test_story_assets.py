"""`satchel story lint`: the pictures and sounds that a story names."""

import pytest
from conftest import segment, story


@pytest.fixture
def illustrated(write, tmp_path):
    """A story in a folder, with two pictures, of which one is there, and a sound that is not."""
    tale = story("well", [{**segment("start", "end"), "image": ["a.png", "b.png"]}, segment("end")])
    write("tales/well.json", {**tale, "sound": "pictures/well.ogg"})
    (tmp_path / "tales/a.png").touch()
    return tmp_path / "tales"


def missing(result):
    return [
        (file["file"], finding["pointer"], finding["severity"])
        for file in result.json["files"]
        for finding in file["findings"]
        if finding["code"] == "missing-asset"
    ]


def test_a_file_that_is_not_beside_the_story_is_an_error(run, illustrated):
    expected = [
        ("tales/well.json", "/segments/0/image/1", "error"),
        ("tales/well.json", "/sound", "error"),
    ]
    assert missing(run("lint", "tales", "--json", code=1)) == expected
    # Its folder counts, and not the working directory.
    result = run("lint", "well.json", code=1, cwd=illustrated)
    assert 'image of segment "start" names "b.png", which does not exist [missing-asset]' in result.out
    (illustrated / "b.png").touch()
    (illustrated / "pictures").mkdir()
    (illustrated / "pictures/Well.ogg").touch()
    result = run("lint", "tales/well.json", code=1)
    assert result.out.endswith('does not exist; did you mean "pictures/Well.ogg"? [missing-asset]\n')
    (illustrated / "pictures/well.ogg").touch()
    assert run("lint", "tales").out == ""


def test_it_can_be_ignored(run, illustrated):
    assert run("lint", "tales", "--ignore", "missing-asset").out == ""


def test_a_story_from_the_standard_input_has_no_folder(run, illustrated):
    text = (illustrated / "well.json").read_bytes()
    assert run("lint", "-", text=text, cwd=illustrated).out == ""


def test_paths_out_of_the_folder_are_not_looked_for(run, write, tmp_path):
    (tmp_path / "there.png").touch()
    images = ["../there.png", str(tmp_path / "there.png"), "there.png"]
    write("tales/well.json", {**story("well"), "image": images})
    (tmp_path / "tales/there.png").symlink_to("../there.png")
    lines = run("lint", "tales", code=1).lines
    assert ["is not in the folder" in line for line in lines] == [True, True, False]
    assert "a link that leads out of the folder" in lines[2]
