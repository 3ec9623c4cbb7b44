"""`satchel story report`: a page without external resources and without scripts of a story."""

import re

import pytest
from conftest import ROOT, STAND_IN, segment, story
from pages import Page, check_harmless

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>\x00\x1b&amp;"


@pytest.fixture
def report(run, write, tmp_path, drawing):
    """The page about the stories in the directory a."""

    def report(*arguments, env=drawing):
        result = run("report", "a", "-o", "report.html", *arguments, env=env)
        assert result.out == ""
        page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
        page.err = result.err
        return page

    return report


def test_a_report_has_every_story(report, write, broken, warned):
    write("a/broken.json", broken)
    write("a/warned.json", warned)
    write("a/sub/tale.json")
    write("a/bad.json", "{")
    page = report()
    check_harmless(page)
    assert page.all("html") == [{"lang": "en"}]
    assert page.text("h2") == ["a/bad.json", "The broken", "The tale", "The warned"]
    names = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    assert {link["href"][1:] for link in page.all("a") if "href" in link} == {f"story-{n}" for n in range(4)}
    assert {f"story-{n}" for n in range(4)} <= names
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {"not-json", "broken-choice", "malformed-age-range"} <= set(page.text("code"))
    assert len(page.all("svg")) == 3
    assert all(svg["role"] == "img" and svg["aria-label"].startswith("Graph of ") for svg in page.all("svg"))
    assert page.err == ""


def test_nothing_of_a_story_becomes_markup(report, write):
    segments = [segment(HOSTILE, "x" + HOSTILE), segment("</svg><script>", id=HOSTILE + "2")]
    texts = ("title", "author", "originalSource", "culturalOrigin", "synopsis", "coverImageName", "ageRange")
    write("a/x.json", story(HOSTILE, segments, tags=[HOSTILE], **dict.fromkeys(texts, HOSTILE)))
    write("a/<script>alert(3)<!--.json", "{")
    page = report("--title", HOSTILE.replace("\x00", ""))
    check_harmless(page)
    assert any(text.startswith("<script>alert(1)</script>") for text in page.text("h2"))
    assert not any("\x00" in text or "\x1b" in text for _, text in page.texts)
    assert page.text("title")[0].startswith("<script>alert(1)")
    assert "a/<script>alert(3)<!--.json" in page.text("h2")


def test_a_report_without_graphviz_tells_how_to_install_it(report, write, bare_path):
    write("a/tale.json")
    page = report(env=bare_path.env)
    check_harmless(page)
    assert page.all("svg") == []
    assert any("apt install graphviz" in text for text in page.text("p"))
    assert "apt install graphviz" in page.err


def test_graphs_can_be_left_out(report, write):
    write("a/tale.json")
    page = report("--no-graphs")
    assert page.all("svg") == []
    assert page.err == ""
    assert not any("Not drawn" in text for text in page.text("p"))


def test_what_cannot_be_drawn_is_noted(report, write, bare_path):
    chain = [segment(f"s{n}", f"s{n + 1}") for n in range(400)] + [segment("s400")]
    write("a/large.json", story("large", chain))
    write("a/none.json", story("none", []))
    page = report(env=bare_path.install(STAND_IN))
    assert "Not drawn: it has more than 400 segments." in page.text("p")
    assert "There is nothing to draw." in page.text("p")
    write("a/tale.json")
    page = report(env=bare_path.install('#!/bin/sh\n[ "$1" = -V ] || exit 1\n'))
    assert any(text.startswith("Not drawn: dot could not draw the story") for text in page.text("p"))
    page = report(env=bare_path.install("#!/bin/sh\necho nothing\n"))
    assert "Not drawn: Graphviz gave no picture." in page.text("p")


def test_many_findings_are_cut_short(report, write):
    ends = [segment("start", *(f"gone{n}" for n in range(150)), "end"), segment("end")]
    write("a/tale.json", story("tale", ends))
    page = report()
    assert len([item for item in page.all("li") if item.get("class") in ("error", "warning")]) == 100
    rest = re.compile(r"And \d+ more: satchel story lint lists them\.")
    assert any(rest.fullmatch(text) for text in page.text("p"))


def test_numbers_beyond_a_word_sort_last(report, write):
    write("a/loop.json", story("loop", [segment("start", "start", "end"), segment("end")]))
    write("a/tale.json")
    values = [cell["data-value"] for cell in report().all("td") if "data-value" in cell]
    assert values == ["Infinity", "1"]


def test_the_examples_make_a_report(run, tmp_path, drawing):
    result = run("report", "Examples/Stories", "-o", str(tmp_path / "r.html"), cwd=ROOT, env=drawing)
    page = Page((tmp_path / "r.html").read_text(encoding="utf-8"))
    check_harmless(page)
    assert len(page.all("section")) == len(page.all("svg")) == 5
    assert result.err == ""


def test_a_report_that_cannot_be_made_ends_with_2(run, write):
    write("a/tale.json")
    assert "Missing expected argument '--output <file>'" in run("report", "a", code=2).err
    assert "nowhere: does not exist" in run("report", "nowhere", "-o", "x.html", code=2).err
    assert "no/x.html: no such file or directory" in run("report", "a", "-o", "no/x.html", code=2).err
    assert run("report", "a", "--no-graphs", "-o", "-").out.startswith("<!DOCTYPE html>")
