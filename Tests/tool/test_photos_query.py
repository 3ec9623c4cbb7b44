"""`satchel photos query`, `export`, `import`, `conflicts`: a catalogue's contents and file formats."""

import csv
import io
import json

import pytest
from conftest import row

NEW_YEAR = 1_704_067_200  # 2024-01-01T00:00:00Z
DAY = 86_400


@pytest.fixture
def year(pictures):
    """A photo at noon of each day of 2024."""
    noon = NEW_YEAR + DAY // 2
    pictures.take(*(row(f"IMG_{day:04}.jpg", noon + day * DAY, size=day) for day in range(366)))
    return pictures


@pytest.mark.parametrize(
    ("filters", "days"),
    [
        ([], range(366)),
        (["--from", "2024-12-31"], [365]),
        (["--to", "2024-01-01"], [0]),
        (["--to", "2024-01-01T11:59"], []),
        (["--to", "2024-01-01T12:00"], [0]),
        (["--to", "2024-01-01T11:59:59Z"], []),
        (["--from", "2024-01-01T14:00:00+02:00", "--to", "2024-01-01 14:00:00+0200"], [0]),
        (["--from", "2024-01-01T12:00:01", "--to", "2024-01-02"], [1]),
        (["--from", "2024-02", "--to", "2024-02"], range(31, 60)),
        (["--from", "2024-12", "--to", "2024-12"], range(335, 366)),
        (["--from", str(NEW_YEAR + DAY // 2), "--to", str(NEW_YEAR + DAY // 2)], [0]),
        (["--from", "-5", "--to", "-1"], []),
        (["--name", "IMG_000?.jpg"], range(10)),
        (["--name", "*_036*"], range(360, 366)),
        (["--name", "IMG_0001.jpg"], [1]),
        (["--name", "IMG"], []),
        (["--no-starred"], range(366)),
        (["--starred"], []),
        (["--status", "not_backed_up", "--name", "*_0000.*"], [0]),
        (["--status", "queued"], []),
    ],
)
def test_filters(year, filters, days):
    code = 0 if days else 1
    names = year.names(*filters, "--order", "photodate", code=code)
    assert names == [f"IMG_{day:04}.jpg" for day in days]


def test_shards_are_disjoint_and_all(year):
    shards = [year.photos("--shard", digit) for digit in "0123456789abcdeF"]
    assert all(photo["md5"][0] == "0" for photo in shards[0])
    assert sum(map(len, shards)) == 366


def test_orders(year):
    by_date = year.names("--order", "photodate")
    assert year.names("--order", "photodate", "--descending") == by_date[::-1]
    assert year.names("--order", "filename", "--descending") == by_date[::-1]
    hashes = [photo["md5"] for photo in year.photos()]
    assert hashes == sorted(hashes)
    assert [photo["md5"] for photo in year.photos("--order", "md5", "--descending")] == hashes[::-1]


def test_a_table_is_truncated_with_a_note(year):
    result = year("query")
    assert len(result.lines) == 101
    assert result.err == "satchel: 266 more; --all lists them\n"
    assert len(year("query", "--limit", "366").lines) == 367
    result = year("query", "--limit", "5", "--order", "photodate")
    assert (len(result.lines), result.err) == (6, "")
    assert result.lines[1].startswith("2024-01-01 12:00  ")
    assert result.lines[1].endswith("  IMG_0000.jpg")
    assert len(year("query", "--all").lines) == 367
    assert len(year("query", "--json").json) == 100


def test_output_formats_are_consistent(year):
    photos = year.photos()
    lines = [json.loads(line) for line in year("query", "--all", "--json-lines").lines]
    assert lines == photos
    table = list(csv.DictReader(io.StringIO(year("query", "--all", "--csv").out, newline="")))
    assert len(table) == len(photos)
    for cells, photo in zip(table, photos, strict=True):
        assert set(cells) == set(photo)
        assert cells["md5"] == photo["md5"]
        assert int(cells["photodate"]) == photo["photodate"]
        assert cells["width"] == ""


def test_csv_keeps_every_name(pictures):
    names = [
        'a,"b".jpg', "two\nlines.jpg", '".jpg', "e\u0301.jpg", 'quote"\u0301.jpg', "\x1b[1m.jpg", "'.jpg",
    ]  # fmt: skip
    for name in names:
        pictures.add(name)
    pictures("scan")
    table = csv.DictReader(io.StringIO(pictures("query", "--csv").out, newline=""))
    assert sorted(cells["filename"] for cells in table) == sorted(names)


def test_no_match(pictures):
    pictures("scan")
    result = pictures("query", code=1)
    assert (result.out, result.err) == ("", "satchel: no photo matches\n")
    assert pictures("query", "--json", code=1).json == []
    assert pictures("query", "--json-lines", code=1).out == ""
    assert len(pictures("query", "--csv", code=1).lines) == 1


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (["--from", "yesterday"], "yesterday: neither a time like 2024-02"),
        (["--from", "2024-02-30"], "2024-02-30: neither a time"),
        (["--from", "2024-13"], "2024-13: neither a time"),
        (["--from", "2023-02-29T00:00"], "2023-02-29T00:00: neither a time"),
        (["--from", "2024-01-01T24:00"], "neither a time"),
        (["--from", "\u0662\u0660\u0662\u0664-\u0660\u0661"], "neither a time"),
        (["--from", "99999999999999999999"], "neither a time"),
        (["--from", "\x1b[31m"], "\ufffd[31m: neither a time"),
        (["--from", "2024-02", "--to", "2024-01"], "--from is later than --to"),
        (["--status", "lost"], "--status: lost is not one of not_backed_up, queued"),
        (["--shard", "10"], "--shard: 10 is not a digit from 0 to f"),
        (["--limit", "0"], "--limit: 0 is less than 1"),
        (["--limit", "5", "--all"], "--limit and --all exclude each other"),
        (["--json", "--csv"], "exclude each other"),
        (["--order", "size"], "'--order <order>'"),
    ],
)
def test_invalid_arguments(pictures, wrong, says):
    pictures("scan")
    result = pictures("query", *wrong, code=2)
    assert says in result.err
    assert "\x1b" not in result.err
    assert result.out == ""


def test_ends_of_time_are_shown(pictures):
    first, last = -(2**63), 2**63 - 1
    pictures.take(row("first.jpg", first), row("last.jpg", last))
    assert pictures.names("--order", "photodate") == ["first.jpg", "last.jpg"]
    assert pictures.names("--from", str(last)) == ["last.jpg"]
    assert pictures.names("--to", str(first)) == ["first.jpg"]
    assert len(pictures("query").lines) == 3


def test_export_and_import_round_trip(pictures, tablet, tmp_path):
    pictures.take(*(row(f"{number}.jpg") for number in range(100)), row('"a, b.jpg"', md5="0" * 32))
    report = pictures("export", tmp_path / "one", "--json").json
    assert report["photos"] == 101
    assert pictures("export").out == "101 photos written\n"
    tablet("import", tmp_path / "one")
    tablet("export", tmp_path / "two")
    own = pictures.pictures / ".photolala"
    for digit in "0123456789abcdef":
        file = f"{digit}.csv"
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
        assert (tmp_path / "one" / file).read_bytes() == (own / file).read_bytes()
    assert tablet.photos()[0]["filename"] == "a, b.jpg"


def test_lines_that_are_not_photos_are_reported_and_kept(pictures, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    lines = [row("good.jpg", md5="0" * 32), "what is this?", row("b.jpg", md5="1" * 32)]
    (source / "0.csv").write_text("\n".join(lines))
    (source / "notes.txt").write_text("no shard")
    result = pictures("import", source, code=1)
    assert result.lines[0].startswith("0.csv:2: ")
    assert result.lines[0].endswith(": a row has 8 columns, or the 7 of format 5")
    assert result.lines[1] == "0.csv:3: the md5 belongs to another shard"
    assert result.lines[2].startswith("1 photo in 1 file")
    pictures("export", tmp_path / "again")
    assert b"what is this?" in (tmp_path / "again/0.csv").read_bytes().split(b"\n")
    assert pictures("status").lines[-1] == "kept lines that are not photos  2"
    pictures("import", tmp_path / "nowhere", code=2)


@pytest.fixture
def lost(pictures, tmp_path):
    """A catalogue with three conflicts: scanned photos that an imported file renames."""
    for number in range(3):
        pictures.add(f"mine {number}.jpg")
    pictures("scan")
    source = tmp_path / "theirs"
    source.mkdir()
    for photo in pictures.photos():
        file = source / f"{photo['md5'][0]}.csv"
        lines = [file.read_text()] if file.exists() else []
        theirs = row(photo["filename"].replace("mine", "their"), md5=photo["md5"])
        file.write_text("\n".join(sorted([*lines, theirs])))
    result = pictures("import", source, code=1)
    assert "3 changes lost a conflict" in result.err
    return pictures


def test_conflicts_are_listed_and_resolved(lost):
    assert sorted(lost.names()) == ["their 0.jpg", "their 1.jpg", "their 2.jpg"]

    def conflicts_of(command, *words, **options):
        words = [lost.store, "--photos", lost.pictures, *words]
        return lost.run(command, *map(str, words), subject="conflicts", **options)

    conflicts = conflicts_of("list", "--json", code=1).json
    assert len(conflicts) == 3
    first, second, third = conflicts
    assert {each["subject"] for each in conflicts} == {"photos"}
    assert (first["kind"], first["side"], first["cause"]) == ("lost", "local", "import")
    lines = conflicts_of("list", code=1).lines
    headings = [line for line in lines if not line.startswith(" ")]
    assert [line.split()[0] for line in headings] == [str(each["id"]) for each in conflicts]
    assert headings[0].endswith(first["md5"])
    assert [line.split()[0] for line in lines[1:4]] == ["local", "remote", "lost"]
    assert first["local"]["filename"] in lines[1]
    assert first["remote"]["filename"] in lines[2]
    assert lines[3].split(maxsplit=1)[1] == "local, to an import"
    resolved = conflicts_of("resolve", first["id"], "--keep", "local").out
    assert resolved.endswith(f"{first['md5']}: conflict {first['id']} resolved\n")
    assert first["local"]["filename"] in lost.names()
    result = conflicts_of("resolve", first["id"], second["id"], "--keep", "local", "--json", code=1)
    assert result.json == {"resolved": [second["id"]], "missing": [first["id"]]}
    assert result.err == f"satchel: there is no conflict {first['id']}\n"
    conflicts_of("resolve", "--all", "--keep", "remote")
    assert third["remote"]["filename"] in lost.names()
    assert conflicts_of("list").out == "no conflicts\n"
    conflicts_of("resolve", "--all", "--keep", "remote", code=1)
    lost.run("list", str(lost.store), subject="conflicts")


def test_ten_thousand_photos(pictures, tmp_path):
    pictures.take(*(row(f"IMG_{number:05}.jpg", NEW_YEAR + number) for number in range(10_000)))
    assert len(pictures("query", "--all").lines) == 10_001
    assert len(pictures("query", "--all", "--csv").lines) == 10_001
    assert len(pictures.photos("--order", "photodate", "--descending")) == 10_000
    assert pictures("status").lines[0] == "10000 of 10000 photos are not backed up"
    assert ["all", "10000"] in [line.split()[:2] for line in pictures("status", "--shards").lines]
    assert pictures("export", tmp_path / "out", "--json").json["photos"] == 10_000
