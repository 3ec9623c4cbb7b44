"""Random documents about records for the fuzzer of the C interface: declarations, documents and queries."""

from __future__ import annotations

from api_documents import COLLECTIONS, Dice, asset, identifier, value


def declaration(dice: Dice) -> object:
    """A collection: lessons refer to courses and notes, in one of a few ways each."""
    name = dice.choice(COLLECTIONS)
    whole: dict[str, object] = {"name": name}
    if name == "courses":
        whole["indexes"] = [{"path": "slug", "unique": True}, "level"]
    elif name == "lessons":
        on_delete = "restrict" if dice.random() < 0.9 else dice.choice(["cascade", "nullify"])
        whole["relations"] = {
            "course": {"collection": "courses", "on_delete": on_delete},
            "notes": {"collection": "notes", "on_delete": "nullify", "many": True},
        }
    elif dice.random() < 0.3:
        whole["schema"] = {"type": "object", "properties": {"level": {"type": ["integer", "null"]}}}
    if dice.random() < 0.2:
        steps = [[{"default": {"path": "level", "value": 1}}], "callback", {"callback": {"inverse": True}}]
        whole |= {"version": 2, "migrations": [dice.choice(steps)]}
    if dice.random() < 0.4:
        policies = ["ask", "ask", "remote_wins", "local_wins", "newest_wins", "merge"]
        whole["on_conflict"] = dice.choice(policies)
    if dice.random() < 0.1:
        whole["synced"] = dice.choice([True, False])
    if dice.random() < 0.2:
        whole["ttl"] = dice.choice(["end", "end", 1, 3600, 0, -1, "", "@modified"])
    if dice.random() < 0.4:
        title = {"type": "text", "fold": ["case"], "order": "unicode"}
        types = {"title": title, "level": "decimal", "at": "time"}
        path = dice.choice(list(types))
        whole["types"] = {path: types[path]}
        more = [
            {"paths": ["level", "-title"]},
            {"path": "title", "where": {"level": {"gt": 1}}},
            "notes[*]",
            "lower(title)",
        ]
        whole["indexes"] = [*whole.get("indexes", []), dice.choice(more)]  # type: ignore[misc]
    if dice.random() < 0.4:
        whole |= {"search": ["title", dice.choice(["notes", "level"])], "positions": ["at"]}
    return whole


def record(dice: Dice) -> object:
    """A document that fits any of the collections, mostly."""
    whole: dict[str, object] = {"title": dice.choice("abc"), "level": dice.choice([1, 2, 3, None])}
    if dice.random() < 0.2:
        whole["end"] = dice.choice([None, "2020-01-01", "2100-01-01T00:00Z", "soon"])
    if dice.random() < 0.5:
        whole["slug"] = f"s{dice.randrange(20)}"
    if dice.random() < 0.5:
        whole["course"] = dice.choice([None, identifier(dice)])
    if dice.random() < 0.4:
        whole["notes"] = [identifier(dice) for _ in range(dice.randrange(3))]
    if dice.random() < 0.2:
        whole["text"] = "x" * dice.choice([10, 1000, 20000])
    if dice.random() < 0.2:
        whole["picture"] = asset(dice)
    return whole


def records(dice: Dice) -> object:
    documents = [{"id": identifier(dice), "document": record(dice)} for _ in range(dice.randrange(5))]
    return documents if dice.random() < 0.5 else {each["id"]: each["document"] for each in documents}


def record_query(dice: Dice) -> dict[str, object]:
    conditions = [
        {"level": dice.choice([1, 2])},
        {"level": {"gte": value(dice)}},
        {"title": {"prefix": "a"}},
        {"notes": {"contains": identifier(dice)}},
        {"course": {"exists": True}},
        {"@id": {"in": [identifier(dice), identifier(dice)]}},
        {"any": [{"level": 1}, {"not": {"title": "b"}}]},
    ]
    query = {
        "where": dice.choice(conditions),
        "order_by": dice.choice(["level", "-title", "@created", ["level", "-@id"], "level desc"]),
        "nulls": dice.choice(["first", "last", "middle"]),
        "select": dice.choice([["title"], ["notes", "a.b"], ["@id"], [1]]),
        "include": dice.choice([["course"], ["course", "notes"], [1]]),
        "after": dice.choice(["", "AQ==", "AQ" + "A" * 30]),
        "limit": dice.choice([0, 1, 5, 2**40]),
        "offset": dice.choice([0, 1, 2**40]),
        "documents": dice.random() < 0.5,
    }
    return {key: query[key] for key in query if dice.random() < 0.5}


def record_condition(dice: Dice) -> object:
    return record_query(dice).get("where", {"title": "a"})


def record_groups(dice: Dice) -> object:
    query = {
        "where": record_condition(dice),
        "group_by": dice.choice(["level", ["level", "title"], "notes", "@created", 1]),
        "aggregates": dice.choice(
            [[], [{"sum": "level"}], [{"max": "title"}, {"average": "a"}], [{"mean": "a"}]]
        ),
    }
    return {key: query[key] for key in query if dice.random() < 0.6}


def record_search(dice: Dice) -> object:
    query = {
        "paths": dice.choice([["title"], ["notes"], ["level"], [1]]),
        "where": record_condition(dice),
        "limit": dice.choice([0, 1, 20, 2**40, -1]),
        "offset": dice.choice([0, 1, 2**62]),
    }
    text = dice.choice(["a", "a b", "é", "", "日本", 7])
    return {"text": text, **{key: query[key] for key in query if dice.random() < 0.4}}


def record_near(dice: Dice) -> object:
    query = {
        "latitude": dice.choice([0, 47.4, -90, 91, 1e300]),
        "longitude": dice.choice([0, 8.5, 180, -180, 1e300]),
        "within": dice.choice([0, 1000, 3e7, -1]),
        "path": dice.choice(["at", "title", 1]),
        "where": record_condition(dice),
        "limit": dice.choice([0, 1, 2**40]),
    }
    return {key: query[key] for key in query if key not in ("path", "where", "limit") or dice.random() < 0.4}


def resolution(dice: Dice) -> object:
    return {"keep": dice.choice(["local", "remote"])} if dice.random() < 0.5 else {"document": record(dice)}


def record_live_query(dice: Dice) -> object:
    """A query to follow: for records, groups or hits."""
    kind = dice.choice(["groups", "search", "near", "list"])
    if kind == "list":
        return record_query(dice)
    make = {"groups": record_groups, "search": record_search, "near": record_near}[kind]
    return {kind: make(dice)}
