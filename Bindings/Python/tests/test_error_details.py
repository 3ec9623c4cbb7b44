"""An error says where it is: subject, collection, id, pointer, line, column, the id in the way, the limit."""

from __future__ import annotations

import asyncio
import json
import pickle
import threading
from pathlib import Path
from typing import Any, Callable, Dict

import pytest

import satchel
from satchel._library import library

MEMBERS = (
    "subject",
    "collection",
    "id",
    "pointer",
    "line",
    "column",
    "other_id",
    "other_collection",
    "limit",
)


def details(error: satchel.SatchelError) -> Dict[str, Any]:
    return {name: getattr(error, name) for name in MEMBERS if getattr(error, name) is not None}


def error_of(call: Callable[[], Any]) -> satchel.SatchelError:
    with pytest.raises(satchel.SatchelError) as caught:
        call()
    return caught.value


def people(store: satchel.Store) -> satchel.Records[Any]:
    return store.records(
        "people",
        indexes=[{"path": "email", "unique": True}],
        schema={"type": "object", "properties": {"age": {"type": "integer"}}},
    )


def books(store: satchel.Store) -> satchel.Records[Any]:
    people(store)
    return store.records("books", relations={"author": "people"})


def schema(store: satchel.Store) -> None:
    people(store).put("ann", {"age": "nine"})


def schema_of_many(store: satchel.Store) -> None:
    people(store).put_many({"ann": {"age": 9}, "bea": {"age": "nine"}})


def unique(store: satchel.Store) -> None:
    people(store).put("ann", {"email": "a@x"})
    people(store).put("bea", {"email": "a@x"})


def unique_later(store: satchel.Store) -> None:
    store.records("pets").put_many({"rex": {"chip": 7}, "tom": {"chip": 7}})
    store.records("pets", indexes=[{"path": "chip", "unique": True}])


def no_target(store: satchel.Store) -> None:
    books(store).put("emma", {"author": "jane"})


def restricted(store: satchel.Store) -> None:
    library = books(store)
    people(store).put("jane", {})
    library.put("emma", {"author": "jane"})
    people(store).delete("jane")


def stale(store: satchel.Store) -> None:
    people(store).put("ann", {})
    people(store).put("ann", {}, if_revision=7)


def missing_record(store: satchel.Store) -> None:
    people(store).update("ann", {"age": 9})


def bad_document(store: satchel.Store) -> None:
    people(store).put("ann", b'{"age": 9,\n "age": 10}')


def long_id(store: satchel.Store) -> None:
    people(store).put("a" * 256, {})


def migration(store: satchel.Store) -> None:
    store.records("pets").put_many({"rex": {"age": 1}, "tom": {"age": {}}})
    store.records("pets", version=2, migrations=[[{"convert": {"path": "age", "to": "string"}}]])


def migration_function(store: satchel.Store) -> None:
    def change(document: Any) -> Any:
        return {"years": document["age"]}

    store.records("pets").put_many({"rex": {"age": 1}, "tom": {}})
    store.records("pets", version=2, migrations=[change])


RECORDS: Dict[str, Any] = {
    "a schema": (schema, {"id": "ann", "pointer": "/age"}),
    "a schema, of many": (schema_of_many, {"id": "bea", "pointer": "/age"}),
    "a unique index": (
        unique,
        {"id": "bea", "pointer": "/email", "other_collection": "people", "other_id": "ann"},
    ),
    "a unique index that is declared later": (
        unique_later,
        {
            "collection": "pets",
            "id": "tom",
            "pointer": "/chip",
            "other_collection": "pets",
            "other_id": "rex",
        },
    ),
    "a relation to no record": (
        no_target,
        {
            "collection": "books",
            "id": "emma",
            "pointer": "/author",
            "other_collection": "people",
            "other_id": "jane",
        },
    ),
    "a deletion that is restricted": (
        restricted,
        {"id": "jane", "pointer": "/author", "other_collection": "books", "other_id": "emma"},
    ),
    "a stale revision": (stale, {"id": "ann"}),
    "a record to update that is missing": (missing_record, {"id": "ann"}),
    "a document that is not JSON": (bad_document, {"id": "ann", "pointer": "/age", "line": 2, "column": 2}),
    "an id that is too long": (long_id, {"limit": 255}),
    "a migration's step": (migration, {"collection": "pets", "id": "tom", "pointer": "/age"}),
    "a migration's function": (migration_function, {"collection": "pets", "id": "tom"}),
}


@pytest.mark.parametrize("name", RECORDS)
def test_an_error_of_records_says_where(store: satchel.Store, name: str) -> None:
    provoke, expected = RECORDS[name]
    error = error_of(lambda: provoke(store))
    assert details(error) == {"subject": "records", "collection": "people", **expected}, str(error)
    # The same as the library's JSON object, and after pickling.
    assert json.loads(library.satchel_error_details()) == details(error)
    assert details(pickle.loads(pickle.dumps(error))) == details(error)


def no_section(store: satchel.Store, path: Path) -> None:
    store.catalogue.persist({"country_code": "PT"}, {"content": {}})


def number_in_a_section(store: satchel.Store, path: Path) -> None:
    text = b'{"section": "food", "content":\n [1, 1e99999999999999999999]}'
    store.catalogue.persist({"country_code": "PT"}, text)


def edit_of_a_section(store: satchel.Store, path: Path) -> None:
    edit = {"section": "food", "action": "edit", "config": {"operation": "explode"}, "content": {}}
    store.catalogue.persist({"country_code": "PT"}, edit)


def no_story(store: satchel.Store, path: Path) -> None:
    with store.stories(path.parent) as library:
        library.story("none")


def no_segment(store: satchel.Store, path: Path) -> None:
    (path.parent / "tale.json").write_text(
        '{"id": "tale", "segments": [{"id": "a", "text": "", "choices": []}]}'
    )
    with store.stories(path.parent) as library:
        library.progress("tale").move_to("b")


def broken_story(store: satchel.Store, path: Path) -> None:
    (path.parent / "tale.json").write_text('{"id": "tale",\n "segments": [}')
    with store.stories(path.parent) as library:
        library.story("tale")


def wrong_photo(store: satchel.Store, path: Path) -> None:
    store.photos(path.parent).upsert(
        [{"md5": "0" * 32, "filename": 7, "size": 1, "photodate": 1, "modified": 1}]
    )


def no_photo(store: satchel.Store, path: Path) -> None:
    store.photos("/pictures").star("0" * 32)


def large_state(store: satchel.Store, path: Path) -> None:
    store.state.set("draft", "x" * (16 << 20))


def long_key(store: satchel.Store, path: Path) -> None:
    store.state.set("k" * 300, 1)


def no_key(store: satchel.Store, path: Path) -> None:
    store.state.set("pin", 1234, sensitive=True)


def long_list_to_synchronize(store: satchel.Store, path: Path) -> None:
    store.state.list("l" * 252, synced=True)


def mirror_that_is_not_json(store: satchel.Store, path: Path) -> None:
    (path.parent / "people.json").write_text('{"ann":\n {"age": }}')
    people(store).mirror(path.parent / "people.json")


def sealed_record(store: satchel.Store, path: Path) -> None:
    store.state.set_key(bytes(32))
    store.records("letters", sensitive=["text"]).put("one", {"text": "between us"})
    store.close()
    with satchel.open(path) as again:
        again.records("letters", sensitive=["text"]).get("one")


OTHERS: Dict[str, Any] = {
    "a section without a name": (no_section, {"subject": "catalogue", "pointer": ""}),
    "a number in a section": (
        number_in_a_section,
        {"subject": "catalogue", "pointer": "/content/1", "line": 2, "column": 6},
    ),
    "an edit of a section": (
        edit_of_a_section,
        {"subject": "catalogue", "collection": "food", "pointer": "/config/operation"},
    ),
    "a story that is missing": (no_story, {"subject": "stories", "id": "none"}),
    "a segment that is missing": (no_segment, {"subject": "stories", "id": "tale", "other_id": "b"}),
    "a story that is not JSON": (broken_story, {"subject": "stories", "id": "tale", "line": 2, "column": 15}),
    "a photo's column": (wrong_photo, {"subject": "photos", "id": "0" * 32, "pointer": "/0/filename"}),
    "a photo that is missing": (no_photo, {"subject": "photos", "collection": "/pictures", "id": "0" * 32}),
    "a value of state that is too large": (
        large_state,
        {"subject": "state", "collection": "value", "id": "draft", "limit": 16 << 20},
    ),
    "a key of state that is too long": (long_key, {"subject": "state", "limit": 255}),
    "a sensitive value without a key": (no_key, {"subject": "state", "collection": "value", "id": "pin"}),
    "a list that cannot be synchronized": (
        long_list_to_synchronize,
        {"subject": "state", "collection": "list", "id": "l" * 252, "limit": 250},
    ),
    "a mirror that is not JSON": (
        mirror_that_is_not_json,
        {"subject": "records", "collection": "people", "pointer": "/ann/age", "line": 2, "column": 10},
    ),
    "a sealed record without a key": (
        sealed_record,
        {"subject": "records", "collection": "letters", "id": "one"},
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_an_error_of_another_subject_says_where(store: satchel.Store, path: Path, name: str) -> None:
    provoke, expected = OTHERS[name]
    error = error_of(lambda: provoke(store, path))
    assert details(error) == expected, str(error)


def test_an_error_without_a_place_has_no_details(path: Path) -> None:
    error = error_of(lambda: satchel.open(path.parent / "none" / "none" / "a.satchel"))
    assert details(error) == {}
    assert library.satchel_error_details() == b"{}"


def test_json_has_line_column_pointer_and_limit() -> None:
    error = error_of(lambda: satchel.json.merge_patch(b'{"a":\n [1, 2,, 3]}', b"{}"))
    assert details(error) == {"pointer": "/a/2", "line": 2, "column": 8}
    error = error_of(lambda: satchel.json.merge_patch(b"[" * 513 + b"]" * 513, b"{}"))
    assert (error.limit, error.line, error.column) == (512, 1, 513)


def test_a_thread_has_the_details_of_its_own_last_failed_call(store: satchel.Store) -> None:
    first = details(error_of(lambda: unique(store)))
    # A call that succeeds leaves them.
    people(store).put("cid", {})
    assert json.loads(library.satchel_error_details()) == first
    # Another thread has its own, and none at first.
    seen = []

    def other() -> None:
        seen.append(library.satchel_error_details())
        error_of(lambda: stale(store))
        seen.append(library.satchel_error_details())

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert seen[0] == b"{}"
    assert json.loads(seen[1])["id"] == "ann"
    assert json.loads(library.satchel_error_details()) == first
    # The next failed call replaces them, also by none.
    error_of(lambda: satchel.open("/none/none/a.satchel"))
    assert library.satchel_error_details() == b"{}"


def test_a_failed_call_in_a_callback_is_not_the_error_of_the_call_around_it(store: satchel.Store) -> None:
    inner = []

    def change(document: Any) -> Any:
        inner.append(error_of(lambda: people(store).get("a" * 256)))
        return {"age": document["age"]}

    people(store)
    store.records("pets").put_many({"rex": {"age": 1}, "tom": {"age": "x"}})
    error = error_of(
        lambda: store.records(
            "pets",
            version=2,
            migrations=[change],
            schema={"type": "object", "properties": {"age": {"type": "integer"}}},
        )
    )
    assert details(inner[0]) == {"subject": "records", "collection": "people", "limit": 255}
    assert details(error) == {"subject": "records", "collection": "pets", "id": "tom", "pointer": "/age"}
    assert str(error) == library.satchel_error_message().decode()


def test_asyncio_keeps_the_details(path: Path) -> None:
    async def run() -> Dict[str, Any]:
        async with satchel.aio.open(path) as store:
            records = await store.records("people", indexes=[{"path": "email", "unique": True}])
            await records.put("ann", {"email": "a@x"})
            with pytest.raises(satchel.ConstraintViolation) as caught:
                await asyncio.gather(records.put("bea", {"email": "a@x"}), records.put("cid", {}))
            return details(caught.value)

    import satchel.aio

    assert asyncio.run(run()) == {
        "subject": "records",
        "collection": "people",
        "id": "bea",
        "pointer": "/email",
        "other_collection": "people",
        "other_id": "ann",
    }


def test_a_live_query_keeps_the_details_of_its_error(store: satchel.Store) -> None:
    pets = store.records("pets")
    pets.put("rex", {})
    watch = pets.watch()
    assert watch.next(timeout=10)
    store.drop_collection("pets")
    error = error_of(lambda: watch.next(timeout=10))
    assert (error.subject, error.collection) == ("records", "pets")
