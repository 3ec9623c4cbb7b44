"""Places on the command line: --place, --at and --location."""

from pathlib import Path

import pytest
import satchel

CONTENT = {"Here": {"text": "here", "_storage": {"entity_id": "facts:here", "scope": "locality"}}}
PLACES = [
    {"country_code": "PT", "admin_area": "Porto", "locality": "Porto", "latitude": 41.1496,
     "longitude": -8.611},
    {"country_code": "SG", "locality": "Singapore"},
    {"country_code": "US", "admin_area": "Illinois", "locality": "Springfield"},
    {"country_code": "US", "admin_area": "Missouri", "locality": "Springfield"},
    {"country_code": "CN", "admin_area": "Shanghai", "locality": "Shanghai", "sublocality": "Pudong"},
    {"country_code": "CN", "admin_area": "Yunnan"},
]  # fmt: skip


@pytest.fixture(scope="module")
def guide(tmp_path_factory):
    """A store with a section for each of the places."""
    path = tmp_path_factory.mktemp("places") / "guide.satchel"
    with satchel.open(path) as store:
        for place in PLACES:
            store.catalogue.persist(place, {"section": "facts", "content": CONTENT})
    return str(path)


@pytest.fixture
def catalogue(run, guide):
    """`satchel catalogue` with the store: catalogue("show", "--place", "PT")."""

    def catalogue(command, *arguments, **options):
        return run(command, guide, *arguments, subject="catalogue", **options)

    return catalogue


def levels(result):
    return [(header["section"], header["level"]) for header in result.json]


def test_the_list_has_the_forms_that_the_options_read(catalogue):
    names = [line.split("  ", 3)[-1].strip() for line in catalogue("show").lines]
    assert sorted(names) == [
        "CN/Shanghai/Shanghai/Pudong", "CN/Yunnan/", "PT/Porto/Porto  41.1496,-8.611", "SG/Singapore",
        "US/Illinois/Springfield", "US/Missouri/Springfield",
    ]  # fmt: skip
    for name in names:
        place, _, position = name.partition("  ")
        words = ["--place", place, *(["--at", position] if position else [])]
        assert "facts" in catalogue("show", *words, "--no-inherit").out, words


@pytest.mark.parametrize(
    ("words", "location"),
    [
        (["--place", "SG/Singapore"], {"country_code": "SG", "locality": "Singapore"}),
        (["--place", "sg/singapore"], {"country_code": "SG", "locality": "Singapore"}),
        (["--place", "SG//Singapore"], {"country_code": "SG", "locality": "Singapore"}),
        (["--place", "CN/Yunnan/"], {"country_code": "CN", "admin_area": "Yunnan"}),
        (["--place", "CN/Shanghai/Shanghai/Pudong"], PLACES[4]),
        (["--at", "41.1496,-8.611"], {"latitude": 41.1496, "longitude": -8.611}),
        (["--at=41.1496, -8.611"], {"latitude": 41.1496, "longitude": -8.611}),
        (["--at", "-33.87,151.21"], {"latitude": -33.87, "longitude": 151.21}),
        (["--place", "PT/Porto/Porto", "--at", "41.1496,-8.611"], PLACES[0]),
    ],
)
def test_a_place_is_the_location_in_json(catalogue, words, location):
    text = str(location).replace("'", '"')
    for command in (["show", "--no-inherit"], ["show"], ["plan"], ["search", "here"]):
        name, *rest = command
        expected = catalogue(name, *rest, "--location", text, "--json", code=None)
        assert catalogue(name, *rest, *words, "--json", code=expected.code).out == expected.out


def test_a_locality_without_its_admin_area_is_the_delivered_place(catalogue):
    assert levels(catalogue("show", "--place", "PT/Porto", "--json")) == [("facts", "locality")]
    assert levels(catalogue("show", "--place", "PT/PORTO", "--json")) == [("facts", "locality")]
    assert levels(catalogue("show", "--place", "CN//Shanghai/Pudong", "--json")) == [("facts", "sublocality")]
    assert levels(catalogue("show", "--place", "CN//Shanghai/Huangpu", "--json")) == [("facts", "locality")]
    both = "US/Illinois/Springfield, US/Missouri/Springfield"
    message = f"--place: US/Springfield is the name of several places: {both}"
    assert message in catalogue("show", "--place", "US/Springfield", code=2).err
    words = ["--place", "US/Missouri/Springfield", "--json"]
    assert levels(catalogue("show", *words)) == [("facts", "locality")]
    assert "nothing is stored for PT/Lisboa" in catalogue("show", "--place", "PT/Lisboa", code=1).err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--place", ""], "the country is missing"),
        (["--place", "/Porto"], "the country is missing"),
        (["--place", "Portugal"], "Portugal is not a country code of two letters, such as PT"),
        (["--place", "Porto/PT"], "Porto is not a country code"),
        (["--place", "PT/"], "the locality is empty"),
        (["--place", "PT//"], "the locality is empty"),
        (["--place", "PT/Porto/Porto/"], "the sublocality is empty"),
        (["--place", "PT/,"], 'the locality "," has no letters'),
        (["--place", "PT/,/Porto"], 'the admin area "," has no letters'),
        (["--place", "a/b/c/d/e"], "5 parts; the forms are PT, PT/Porto, CN/Shanghai/Shanghai"),
        (["--place", b"PT/\xff"], "not UTF-8"),
        (["--at", "41.15"], "not of the form latitude,longitude, such as 41.15,-8.61"),
        (["--at", "41,15,-8,61"], "not of the form latitude,longitude"),
        (["--at", "north,-8.61"], 'the latitude "north" is not a number of degrees'),
        (["--at", "41.15,nan"], 'the longitude "nan" is not a number of degrees'),
        (["--at", "41.15,"], 'the longitude "" is not a number of degrees'),
        (["--at", "91,0"], "the latitude 91.0 is not within ±90"),
        (["--at", "1,1e9"], "the longitude 1000000000.0 is not within ±180"),
        (["--location", '{"country_code": "PT"}', "--place", "PT"], "--location excludes --place and --at"),
        (["--location", '{"country_code": "PT"}', "--at", "1,1"], "--location excludes --place and --at"),
        (["--location", "{"], "line 1, column"),
        (["--location", "{}"], "yields no key"),
    ],
)
def test_errors_name_what_is_wrong(catalogue, words, says):
    for command in ("show", "plan", "prune"):
        result = catalogue(command, *words, code=2)
        assert says in result.err
        assert result.out == ""


def test_commands_that_need_a_place_say_so(catalogue):
    assert "give a place with --place, --at or --location" in catalogue("plan", code=2).err
    assert "need a place: --place, --at or --location" in catalogue("show", "--section", "facts", code=2).err
    assert "Missing expected argument '--at <position>'" in catalogue("locate", code=2).err


def test_places_to_locate_prune_and_delete(run, guide, tmp_path):
    copy = tmp_path / "copy.satchel"
    copy.write_bytes(Path(guide).read_bytes())

    def catalogue(command, *words, code=0):
        return run(command, copy, *words, subject="catalogue", code=code)

    assert catalogue("locate", "--at", "41.15,-8.61").lines == ["95 m  PT/Porto/Porto  41.1496,-8.611"]
    words = ["--no-expired", "--place", "US/Illinois/Springfield", "--json"]
    assert catalogue("prune", *words).json["entities"] == 1
    assert "nothing of that is stored" in catalogue("delete", "--place", "US/Illinois/Chicago", code=1).err
    assert catalogue("delete", "--place", "US/Missouri/Springfield", "--json").json["contexts"] == 1
    assert "US/Missouri/Springfield" not in catalogue("show").out


def test_places_that_have_no_short_form_are_listed_as_json(run, tmp_path):
    with satchel.open(tmp_path / "odd.satchel") as store:
        place = {"country_code": "PRT", "locality": "Vila Nova/Gaia"}
        store.catalogue.persist(place, {"section": "facts", "content": CONTENT})
    listed = run("show", "odd.satchel", subject="catalogue").lines[0].split("  ", 3)[-1].strip()
    assert "facts" in run("show", "odd.satchel", "--location", listed, subject="catalogue").out
