"""Games of Twine in folders, pages and archives, and what is no story."""

import json

from conftest import story

DATA = ':: StoryData\n{"ifid": "1", "format": "Harlowe"}\n\n'
PAGE = (
    '<html><tw-storydata name="The Well" startnode="1" format="Harlowe"><tw-passagedata pid="1" name="Start">'
    "[[Down-&gt;Cave]] [[Hoem]]</tw-passagedata>"
    '<tw-passagedata pid="2" name="Cave">Deep.</tw-passagedata></tw-storydata></html>'
)


def errors(result):
    return [
        (file["file"], each["file"], each["line"], each["code"])
        for file in result.json["files"]
        for each in file["findings"]
        if each["severity"] == "error"
    ]


def checked(result):
    return [file["file"] for file in result.json["files"]]


def test_a_folder_without_story_data_is_one_game(run, write):
    write("src/start.twee", "/* notes */\n\n:: StoryTitle\nA game\n\n:: Start\n[[Hall]] [[Hlal]]\n")
    write("src/hall.tw2", ":: Hall\nEnd.\n")
    write("src/empty.twee", "/* to be written */\n")
    result = run("lint", "src", "--json", code=1)
    assert errors(result) == [("src", "start.twee", 7, "broken-choice")]
    # The text before the first passage of a file is no part of the passage before it.
    warnings = [(each["file"], each["code"]) for each in result.json["files"][0]["findings"]][:2]
    assert warnings == [("empty.twee", "wrong-type"), ("start.twee", "wrong-type")]


def test_story_includes_name_the_files_of_a_game(run, write, tmp_path):
    write(
        "game/story.tw",
        "::StoryTitle\nT\n\n::StoryIncludes\npart/one.tw\n../out.tw\npart/gone.tw\n/etc/x.tw\n",
    )
    write("game/part/one.tw", "::Start\n[[Two]]\n\n:: StoryIncludes\npart/two.tw\n")
    write("game/part/two.tw", "::Two\nEnd.\n")
    write("out.tw", "::Two\n[[nowhere]]\n")
    for path in ("game", "game/story.tw"):
        assert checked(run("lint", path, "--json", "--all")) == ["game"]


def test_a_folder_with_one_file_is_converted(run, write):
    write("game/a.twee", DATA + ":: Start\n[[x]]\n\n:: x\nEnd.\n")
    assert len(json.loads(run("convert", "game").out)["segments"]) == 2
    write("game/b.twee", DATA + ":: Start\nEnd.\n")
    assert "several games" in run("convert", "game", code=2).err


def test_both_places_of_a_duplicate_are_named(run, write):
    write("a.twee", DATA + ":: Start\n[[Drawer]]\n\n:: Drawer\nOne.\n")
    write("b.twee", ":: Drawer\nTwo.\n")
    result = run("lint", ".")
    assert "a.twee:7:1: warning: " in result.out
    assert " at b.twee:1 [duplicate-segment]" in result.out


def test_a_page_and_an_archive_are_read(run, write):
    write("well.html", PAGE)
    result = run("lint", "well.html", "--json", code=1)
    assert errors(result) == [("well.html", None, 1, "broken-choice")]
    assert result.json["files"][0]["findings"][0]["passage"] == {"name": "Start", "line": 1, "column": 18}
    assert 'passage "Start", line 1, column 18: ' in run("lint", "well.html", code=1).out
    assert len(json.loads(run("convert", "well.html").out)["segments"]) == 2
    tales = PAGE.removeprefix("<html>").removesuffix("</html>")
    write("archive.html", tales + "\n" + tales.replace("Hoem", "Cave") + "\n" + tales)
    found = errors(run("lint", "archive.html", "--json", code=1))
    assert found == [("archive.html", None, 1, "broken-choice"), ("archive.html", None, 3, "broken-choice")]


def test_other_files_of_a_repository_are_no_findings(run, write):
    write("package.json", '{"name": "game"}')
    write("tsconfig.json", "// a comment\n{}")
    write("data.json", "[1, 2]")
    write("index.html", "<html><p>Hello</p></html>")
    write("tale.json")
    assert checked(run("lint", ".", "--json", "--all")) == ["tale.json"]
    assert len(run("stats", ".", "--json").json["files"]) == 1
    # A story with a mistake is one.
    write("broken.json", '{"segments": [}')
    write("empty.json", '{"segments": 1}')
    found = {path for path, _, _, code in errors(run("lint", ".", "--json", code=1))}
    assert found == {"broken.json", "empty.json"}
    # A file that is named is checked.
    assert [code for *_, code in errors(run("lint", "tsconfig.json", "--json", code=1))] == ["not-json"]
    assert "no-segments" in [code for *_, code in errors(run("lint", "package.json", "--json", code=1))]


def test_what_is_ignored_is_not_read(run, write):
    for name in (
        "a.json",
        "dist/b.json",
        "node_modules/x/c.json",
        "old/d.json",
        "old/e.json",
        "sub/f.tmp.json",
    ):
        write(name, story(name.split("/")[-1].split(".")[0]))
    assert checked(run("lint", ".", "--json", "--all")) == [
        "a.json", "dist/b.json", "old/d.json", "old/e.json", "sub/f.tmp.json"
    ]  # fmt: skip
    arguments = ("--exclude", "dist/", "--exclude", "*.tmp.json", "--exclude", "/old/d.json")
    assert checked(run("lint", ".", "--json", "--all", *arguments)) == ["a.json", "old/e.json"]
    write(".satchelignore", "# generated\ndist/\nold/**\n!old/e.json\n*.tmp.json\n")
    assert checked(run("lint", ".", "--json", "--all")) == ["a.json", "old/e.json"]
    assert "node_modules" not in run("lint", ".", "--json", "--all").out
    write("game/a.twee", DATA + ":: Start\n[[x]]\n\n:: x\nEnd.\n")
    write("game/b.twee", ":: x\n[[nowhere]]\n")
    assert errors(run("lint", "game", "--json", code=1))
    assert errors(run("lint", "game", "--json", "--exclude", "b.twee")) == []


def test_one_broken_link_is_one_error(run, write):
    chain = "".join(f":: P{number}\n[[P{number + 1}]]\n\n" for number in range(1, 20)) + ":: P20\nOver.\n"
    write("game.twee", DATA + ":: Start\n[[Pl1->P01]] [[Out]]\n\n:: Out\nOver.\n\n" + chain)
    result = run("lint", "game.twee", "--json", code=1)
    assert [code for *_, code in errors(result)] == ["broken-choice"]
    assert (
        "with 20 segments that cannot be reached without it"
        in result.json["files"][0]["findings"][0]["message"]
    )


def test_names_that_look_equal_are_suggested(run, write):
    pairs = [
        ("Caf\u00e9", "Cafe\u0301"), ("Tom\u2019s room", "Tom's room"), ("Tom &amp; Jo", "Tom & Jo"),
        ("The\u00a0End", "The End"), ("A\u200bB C", "AB C"), ("THE HOUSE", "The house"),
        ("a \u2013 b", "a - b"),
    ]  # fmt: skip
    for number, (link, name) in enumerate(pairs):
        write(f"{number}.twee", DATA + f":: Start\n[[{link}]]\n\n:: {name}\nOver.\n")
        result = run("lint", f"{number}.twee", "--json", code=1)
        assert [
            each["suggestion"]
            for each in result.json["files"][0]["findings"]
            if each["code"] == "broken-choice"
        ] == [name]
