"""Numbers beyond Int64 and beyond a float are kept by every part that stores documents."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Dict, List

import pytest
from helpers import section, storage
from record_devices import Device

import satchel
from satchel import BigNumber
from satchel.remote import Remote

INTEGER = 123456789012345678901234567890
TEXT = b'{"n":123456789012345678901234567890,"x":[1e400,-0.5E+0999]}'
DOCUMENT = {"n": INTEGER, "x": [BigNumber("1e400"), BigNumber("-0.5E+0999")]}


def test_records_keep_them_as_they_were_written(path: Path) -> None:
    with satchel.open(path) as store:
        records = store.records("a")
        records.put("text", TEXT)
        records.put("values", DOCUMENT)
    with satchel.open(path) as store:
        records = store.records("a")
        for id in ("text", "values"):
            assert records.text(id) == TEXT
            assert records.get(id) == DOCUMENT
        revision = records.record("text")
        records.put("text", records.get("text"))
        assert records.text("text") == TEXT
        assert revision is not None
        assert store.check() == []


def test_an_exponent_beyond_64_bits_is_refused_with_its_place(store: satchel.Store) -> None:
    with pytest.raises(satchel.InvalidArgument) as caught:
        store.records("a").put("r", b'{"a":\n [1, {"b/": 1e9223372036854775807}]}')
    error = caught.value
    assert (error.collection, error.id, error.pointer) == ("a", "r", "/a/1/b~1")
    assert (error.line, error.column) == (2, 13)


@pytest.mark.parametrize("indexed", [True, False])
def test_queries_compare_exact_values_at_once(store: satchel.Store, indexed: bool) -> None:
    records = store.records("a", indexes=["n"] if indexed else [])
    for count in (2**64, 2**64 - 1, 2.0**64, 2**64 + 1, 7, BigNumber("1e999999999999999999")):
        records.put(str(count), {"n": count})
    assert records.ids({"n": 2**64}) == ["18446744073709551616", "1.8446744073709552e+19"]
    assert records.ids({"n": {"gt": 2**64}}, order_by="n") == ["18446744073709551617", "1e999999999999999999"]
    assert records.ids({"n": {"lte": 2.0**64, "gt": 7}}, order_by="-n", limit=1) == ["18446744073709551616"]
    assert records.ids({"n": {"in": [2**64 + 1, 8]}}) == ["18446744073709551617"]
    assert records.count({"n": {"lt": BigNumber("1e400")}}) == 5


def test_unique_values_and_live_queries(store: satchel.Store) -> None:
    records = store.records("a", indexes=[{"path": "n", "unique": True}])
    records.put("a", {"n": BigNumber("1e400")})
    for same in (b'{"n":10e399}', b'{"n":1' + b"0" * 400 + b"}"):
        with pytest.raises(satchel.ConstraintViolation) as caught:
            records.put("b", same)
        assert caught.value.other_id == "a"
    with records.watch(where={"n": {"gt": 2**64}}, order_by="n") as watch:
        assert [each.id for each in watch.next()] == ["a"]
        records.put("b", {"n": 2**64 + 1})
        assert [each.id for each in watch.next()] == ["b", "a"]


def test_schemas(store: satchel.Store) -> None:
    schema = {"properties": {"n": {"type": "integer", "maximum": 2**64 - 1, "multipleOf": 5}}}
    records = store.records("a", schema=schema)
    records.put("a", {"n": 2**64 - 1})
    for wrong in (2**64 + 4, 2**64 - 2, BigNumber("1e400")):
        with pytest.raises(satchel.ConstraintViolation, match="/n"):
            records.put("b", {"n": wrong})


def test_declared_steps_and_functions_of_a_migration(store: satchel.Store) -> None:
    store.records("a").put("r", b'{"n":18446744073709551616,"t":"1e400","u":1e400}')

    def step(document: Dict[str, Any]) -> Dict[str, Any]:
        assert document["u"] == BigNumber("1e400")
        return {**document, "n": document["n"] + "0"}

    steps = [
        [{"convert": {"path": "n", "to": "string"}}, {"convert": {"path": "t", "to": "number"}}],
        step,
        [{"convert": {"path": "n", "to": "integer"}}],
    ]
    records = store.records("a", version=4, migrations=steps)
    assert records.text("r") == b'{"n":184467440737095516160,"t":1e400,"u":1e400}'


def test_two_devices_merge_them(tmp_path: Path, remote_copy: Remote) -> None:
    devices: List[Device] = []
    for name in ("phone", "tablet"):
        devices.append(Device(tmp_path / f"{name}.satchel", on_conflict="merge"))
    phone, tablet = devices
    try:
        phone.put("a", n=2**64, x=1, y=1)
        phone.sync(remote_copy)
        tablet.sync(remote_copy)
        assert tablet.records.get("a") == {"n": 2**64, "x": 1, "y": 1}
        phone.put("a", n=2**64, x=BigNumber("1e400"), y=1)
        tablet.put("a", n=float(2**64), x=1, y=2**70)
        phone.sync(remote_copy)
        tablet.sync(remote_copy)
        phone.sync(remote_copy)
        for device in devices:
            found = device.records.get("a")
            assert found == {"n": 2.0**64, "x": BigNumber("1e400"), "y": 2**70}
            assert isinstance(found["n"], float)
            assert device.records.ids({"n": 2**64}) == ["a"]
            assert device.store.check() == []
        assert phone.records.text("a") == tablet.records.text("a")
    finally:
        for device in devices:
            device.store.close()


@pytest.mark.parametrize("format", ["plain", "checksummed"])
def test_a_mirror_has_them_and_gives_them_back(tmp_path: Path, store: satchel.Store, format: str) -> None:
    file = tmp_path / "a.json"
    records = store.records("a")
    records.put("r", TEXT)
    records.mirror(file, format=format)
    store.flush()
    assert TEXT in file.read_bytes().replace(b" ", b"").replace(b"\n", b"")
    assert list(records.verify_mirror()) == []
    with satchel.open(tmp_path / "other.satchel") as other:
        copy = other.records("a")
        copy.mirror(file, prefer="file", format=format)
        assert copy.get("r") == DOCUMENT


def test_the_catalogue_keeps_them(catalogue: satchel.Catalogue) -> None:
    place = {"country_code": "PT"}
    content = {
        "items": [
            {"local_name": "a", "n": INTEGER, "x": BigNumber("1e400"), **storage("cuisine:a", "country")}
        ]
    }
    catalogue.persist(place, section(content))
    again = catalogue.persist(place, section(content))
    assert (again.reused, again.updated) == (1, 0)
    loaded = catalogue.load(place, "cuisine")
    assert loaded is not None
    assert loaded.content == {"items": [{"local_name": "a", "n": INTEGER, "x": BigNumber("1e400")}]}
    content["items"][0]["x"] = BigNumber("1e401")
    assert catalogue.persist(place, section(content)).updated == 1
    wrong = {
        "a": {
            **storage("cuisine:b"),
            "_storage": {"entity_id": "cuisine:b", "scope": "global", "ttl_hours": 2**64},
        }
    }
    [problem] = catalogue.persist(place, section(wrong, "wrong")).problems
    assert "ttl_hours" in problem.reason
    with pytest.raises(satchel.InvalidArgument, match="latitude"):
        catalogue.sections(b'{"latitude": 1e400, "longitude": 2}')


def test_the_state_keeps_them(path: Path) -> None:
    with satchel.open(path) as store:
        store.state.set("a", DOCUMENT)
        store.state.list("l").push(INTEGER)
        members = store.state.members("m")
        assert members.add(BigNumber("1e400"))
        assert not members.add(BigNumber("10.0e399"))
        assert members.add(2**64)
        assert BigNumber("0.1e401") in members
        assert float(2**64) not in members
        with pytest.raises(satchel.InvalidArgument, match="delta"):
            store.state.scores("k").add("a", BigNumber("1e400"))  # type: ignore[arg-type]
    with satchel.open(path) as store:
        assert store.state.get("a") == DOCUMENT
        assert store.state.list("l").values() == [INTEGER]


@dataclass
class Measured:
    count: int
    exact: BigNumber
    price: Decimal = Decimal(0)
    rate: float = 0.0


def test_dataclasses(store: satchel.Store) -> None:
    records = store.records("a", of=Measured)
    records.put("a", Measured(2**64, BigNumber("1e400"), Decimal("1e400"), 2.5))
    assert records.text("a") == b'{"count":18446744073709551616,"exact":1e400,"price":"1E+400","rate":2.5}'
    assert records.get("a") == Measured(2**64, BigNumber("1e400"), Decimal("1e400"), 2.5)
    records.put("b", b'{"count":1,"exact":5,"price":1e400}')
    assert records.get("b") == Measured(1, BigNumber("5"), Decimal("1e400"))
    records.put("c", b'{"count":1,"exact":5,"rate":1e400}')
    with pytest.raises(satchel.InvalidArgument, match=r"a/c is not a Measured: /rate"):
        records.get("c")
    assert records.ids({"exact": {"gte": BigNumber("1e399")}}) == ["a"]
