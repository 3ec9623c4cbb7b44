# ruff: noqa: E501  (schemas are easier to compare when each is one line)
"""Makes schema.json: what another implementation of JSON Schema says of many schemas and values.

Run it with jsonschema 4.26.0 in the environment: python Tests/Fixtures/schema.py > Tests/Fixtures/schema.json
Left out is what implementations may answer differently: multiples of decimal fractions (jsonschema divides doubles),
patterns in which Python's regular expressions are not those of ECMAScript, and references to other documents.
"""

import json
import random
from importlib import metadata

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

VERSION = "4.26.0"

# Every schema is held against each of these.
VALUES = [
    None, True, False, 0, 1, -1, 1.0, 1.5, 2, 3, 10, -0.0, 1e300, 9007199254740993, 9223372036854775807,
    "", "a", "ab", "abc", "1", "é", "e\u0301", "😀", "a\nb", "foo", "foobar", "A1",
    [], [1], [1, 1.0], [1, 2], [1, "a"], ["a", "b", "c"], [[1], [1.0]], [None, False, 0], [True, 1], [[], {}],
    [{"a": 1, "b": 2}, {"b": 2.0, "a": 1}], [1, 2, 3, 4], ["foo", 1, None], [[1, "x"], [2]], [3, "a", 3],
    {}, {"a": 1}, {"a": "x"}, {"a": 1, "b": 2}, {"b": 2}, {"a": None, "c": [1, 2]}, {"foo": 1, "bar": 2},
    {"a": {"a": {"a": 1}}}, {"a": {"b": "x"}}, {"x1": 1, "x2": "y"}, {"a": 1, "b": "x", "c": True}, {"c": {"a": 1}},
    {"kind": "circle", "radius": 2}, {"kind": "line", "from": [0, 0], "to": [1, 1]}, {"kind": "line"},
    {"name": "n", "children": [{"name": "m", "children": []}]}, {"name": "n", "children": [{"children": []}]},
    {"a/b": 1, "m~n": 2, "": 3}, {"e\u0301": 1}, {"é": 1}, {"a": [], "b": {}}, {"list": [1, [2, [3]]]},
]  # fmt: skip

# By hand: what each keyword means, at its edges and together with others.
SCHEMAS = [
    True, False, {}, {"unknown": 1, "format": "email", "title": "x", "$comment": "x"},
    *({"type": t} for t in ["null", "boolean", "object", "array", "number", "string", "integer"]),
    {"type": ["string", "null"]}, {"type": ["integer", "array"]},
    {"enum": [1, "a", None, [1], {"a": 1}]}, {"enum": []}, {"enum": [0, False]}, {"enum": [[True]]}, {"const": None},
    {"const": 1}, {"const": 1.0}, {"const": False}, {"const": 0}, {"const": "é"}, {"const": "e\u0301"},
    {"const": {"b": 2, "a": 1.0}}, {"const": [1.0]}, {"const": 9007199254740992}, {"const": 9007199254740993},
    {"minimum": 1}, {"maximum": 1}, {"exclusiveMinimum": 1}, {"exclusiveMaximum": 1.0}, {"minimum": 1.5},
    {"minimum": 9007199254740992.0}, {"exclusiveMinimum": 9007199254740992.0},
    {"exclusiveMaximum": 9223372036854775807}, {"maximum": 1e300}, {"minimum": -0.0},
    {"multipleOf": 2}, {"multipleOf": 0.5}, {"multipleOf": 1.0}, {"multipleOf": 4}, {"multipleOf": 0.25},
    {"minLength": 1}, {"maxLength": 1}, {"minLength": 2.0, "maxLength": 3}, {"minLength": 0}, {"maxLength": 0},
    {"pattern": "^a"}, {"pattern": "b$"}, {"pattern": "^.$"}, {"pattern": "^[A-Z]\\d$"}, {"pattern": ""},
    {"pattern": "oo"}, {"pattern": "^(foo|ab)+$"}, {"pattern": "^\\u0061"}, {"pattern": "a.b"}, {"pattern": "é"},
    {"minItems": 1}, {"maxItems": 2}, {"minItems": 2, "maxItems": 2}, {"uniqueItems": True}, {"uniqueItems": False},
    {"items": {"type": "integer"}}, {"items": False}, {"items": True}, {"prefixItems": [{"type": "integer"}]},
    {"prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False},
    {"prefixItems": [True], "items": {"type": "integer"}}, {"prefixItems": [False]},
    {"contains": {"const": 1}}, {"contains": {"type": "string"}, "minContains": 2}, {"contains": False},
    {"contains": {"type": "integer"}, "maxContains": 1}, {"contains": {"const": 3}, "minContains": 0},
    {"contains": {"type": "integer"}, "minContains": 2, "maxContains": 3}, {"minContains": 5}, {"maxContains": 0},
    {"contains": True, "minContains": 0, "maxContains": 0}, {"contains": True, "maxContains": 1.0},
    {"properties": {"a": {"type": "integer"}}}, {"properties": {"a": False}}, {"properties": {"é": False}},
    {"properties": {"a": True}, "additionalProperties": False}, {"additionalProperties": {"type": "integer"}},
    {"patternProperties": {"^x": {"type": "integer"}}}, {"patternProperties": {"": {"type": "integer"}}},
    {"properties": {"a": True}, "patternProperties": {"^b": True}, "additionalProperties": {"type": "boolean"}},
    {"properties": {"a": {"minimum": 1}}, "patternProperties": {"a": {"maximum": 1}}},
    {"propertyNames": {"maxLength": 1}}, {"propertyNames": {"pattern": "^[a-b]$"}}, {"propertyNames": False},
    {"required": ["a"]}, {"required": ["a", "b"]}, {"required": []}, {"required": [""]}, {"required": ["e\u0301"]},
    {"dependentRequired": {"a": ["b"]}}, {"dependentRequired": {"a": [], "b": ["a"]}},
    {"dependentSchemas": {"a": {"required": ["b"]}}}, {"dependentSchemas": {"foo": False, "a": {"maxProperties": 1}}},
    {"minProperties": 1}, {"maxProperties": 1}, {"minProperties": 2, "maxProperties": 2.0},
    {"allOf": [{"type": "integer"}, {"minimum": 2}]}, {"anyOf": [{"type": "string"}, {"minimum": 2}]},
    {"oneOf": [{"type": "integer"}, {"minimum": 2}]}, {"not": {"type": "integer"}}, {"not": {"not": {"type": "null"}}},
    {"allOf": [False]}, {"anyOf": [False, True]}, {"oneOf": [True, True]}, {"oneOf": [True, False, False]}, {"not": {}},
    {"if": {"type": "integer"}, "then": {"minimum": 2}}, {"if": {"type": "integer"}, "else": {"type": "string"}},
    {"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"maxProperties": 1}}, {"then": False},
    {"else": False}, {"if": False, "then": False}, {"if": True, "else": False},
    {"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer"}}},
    {"$ref": "#/$defs/a", "minimum": 2, "$defs": {"a": {"type": "integer"}}},
    {"$ref": "#/definitions/x", "definitions": {"x": {"type": "string"}}},
    {"properties": {"a": {"$ref": "#"}}, "additionalProperties": False},
    {"type": ["object", "integer"], "additionalProperties": {"$ref": "#"}},
    {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#"}}]},
    {"$ref": "#here", "$defs": {"x": {"$anchor": "here", "type": "string"}}},
    {"$ref": "#/$defs/a~1b/c~0d%25", "$defs": {"a/b": {"c~d%": {"type": "null"}}}},
    {"$ref": "#/allOf/1", "allOf": [True, {"type": "object"}]},
    {"$id": "http://a.example/s/root.json", "$ref": "item.json", "$defs": {"i": {"$id": "item.json", "type": "array"}}},
    {"$id": "http://a.example/s/root.json", "$ref": "/other#x",
     "$defs": {"i": {"$id": "../other", "$defs": {"y": {"$anchor": "x", "type": "object"}}}}},
    {"$id": "http://a.example/s/", "$ref": "t/u#/$defs/n", "$defs": {
        "i": {"$id": "t/u", "$defs": {"n": {"$ref": "#/$defs/m"}, "m": {"type": "string"}}}, "m": {"type": "null"}}},
    {"$id": "urn:example:root", "$ref": "urn:example:root#/$defs/s", "$defs": {"s": {"type": "string"}}},
    {"$id": "http://a.example/x", "items": {"$ref": "http://a.example/x"}, "type": ["array", "integer"]},
    {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/c"}, "c": {"minLength": 2}}},
    {"const": {"$ref": "#/nowhere", "$id": 5}}, {"enum": [{"$anchor": 1}, 1]}, {"properties": {"$ref": {"type": "null"}}},
    {"type": "object", "required": ["name", "children"], "additionalProperties": False, "properties": {
        "name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#"}}}},
    {"oneOf": [
        {"properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}, "required": ["kind", "radius"]},
        {"properties": {"kind": {"const": "line"}}, "required": ["kind", "from", "to"]}]},
    {"unevaluatedProperties": False}, {"unevaluatedItems": False}, {"unevaluatedProperties": {"type": "integer"}},
    {"properties": {"a": True}, "unevaluatedProperties": False},
    {"allOf": [{"properties": {"a": True}}], "properties": {"b": True}, "unevaluatedProperties": False},
    {"anyOf": [{"properties": {"a": {"type": "integer"}}, "required": ["a"]},
               {"properties": {"b": True}, "required": ["b"]}], "unevaluatedProperties": False},
    {"if": {"properties": {"a": {"const": 1}}, "required": ["a"]}, "then": {"properties": {"b": True}},
     "else": {"properties": {"c": True}}, "unevaluatedProperties": False},
    {"if": {"patternProperties": {"^x": True}}, "unevaluatedProperties": False},
    {"$ref": "#/$defs/a", "unevaluatedProperties": False, "$defs": {"a": {"properties": {"a": True}}}},
    {"dependentSchemas": {"a": {"properties": {"b": True}}}, "properties": {"a": True}, "unevaluatedProperties": False},
    {"not": {"not": {"properties": {"a": True}}}, "unevaluatedProperties": False},
    {"allOf": [{"unevaluatedProperties": True}], "unevaluatedProperties": False},
    {"allOf": [{"additionalProperties": {"type": "integer"}}], "unevaluatedProperties": False},
    {"properties": {"a": {"properties": {"a": True}, "unevaluatedProperties": False}}, "unevaluatedProperties": False},
    {"oneOf": [{"properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"required": ["foo"],
               "properties": {"foo": True}}], "unevaluatedProperties": {"type": "integer"}},
    {"prefixItems": [True], "unevaluatedItems": False}, {"items": True, "unevaluatedItems": False},
    {"allOf": [{"prefixItems": [True, True]}], "prefixItems": [True], "unevaluatedItems": False},
    {"contains": {"type": "integer"}, "unevaluatedItems": {"type": "string"}},
    {"contains": {"const": 1}, "prefixItems": [True], "unevaluatedItems": False},
    {"anyOf": [{"prefixItems": [{"const": 1}]}, {"prefixItems": [True, {"type": "string"}]}], "unevaluatedItems": False},
    {"if": {"prefixItems": [{"const": 1}]}, "then": {"prefixItems": [True, True]}, "unevaluatedItems": False},
    {"allOf": [{"unevaluatedItems": {"type": "integer"}}], "unevaluatedItems": False},
    {"allOf": [{"contains": {"type": "string"}}, {"contains": {"type": "integer"}}], "unevaluatedItems": False},
]  # fmt: skip

# Documents that no implementation may accept.
REFUSED = [
    1, None, "x", [], {"type": "text"}, {"type": []}, {"type": ["null", "null"]}, {"type": 1}, {"enum": {}},
    {"minimum": "1"}, {"maximum": None}, {"multipleOf": 0}, {"multipleOf": -1}, {"minLength": -1}, {"maxLength": 1.5},
    {"minItems": "1"}, {"maxProperties": True}, {"pattern": 1}, {"uniqueItems": 1}, {"required": "a"},
    {"required": ["a", "a"]}, {"required": [1]}, {"dependentRequired": {"a": "b"}}, {"dependentRequired": []},
    {"properties": []}, {"properties": {"a": 1}}, {"patternProperties": {"a": None}}, {"additionalProperties": 0},
    {"items": [True]}, {"items": 1}, {"prefixItems": []}, {"prefixItems": True}, {"contains": "x"}, {"allOf": []},
    {"anyOf": {}}, {"oneOf": [1]}, {"not": []}, {"if": 1}, {"then": 1}, {"else": None}, {"$ref": 1}, {"$id": 1},
    {"$id": "a#b"}, {"$anchor": "1a"}, {"$anchor": 1}, {"$defs": []}, {"$defs": {"a": 1}}, {"propertyNames": []},
    {"dependentSchemas": {"a": 1}}, {"minContains": -1}, {"maxContains": "1"}, {"unevaluatedItems": 1},
    {"unevaluatedProperties": []}, {"properties": {"a": {"items": {"type": "x"}}}}, {"definitions": {"a": []}},
    {"title": 3}, {"format": 1}, {"deprecated": "yes"}, {"examples": {}},
]  # fmt: skip

NAMES = ["a", "b", "c", "foo", "x1", "name"]


class Chance:
    """Random schemas over few names and small numbers, so that they meet the values often."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def schema(self, levels: int) -> object:
        """A schema of at most that many levels."""
        if self.random.random() < 0.08:
            return self.random.random() < 0.7
        makers = [self.scalar, self.scalar, self.array, self.object]
        if levels > 0:
            makers += [self.array, self.object, self.combined, self.combined]
        schema: dict[str, object] = {}
        for _ in range(self.random.randint(1, 3)):
            schema.update(self.random.choice(makers)(levels - 1))
        return schema

    def scalar(self, _levels: int) -> dict[str, object]:
        """Keywords of scalars."""
        pick = self.random.choice
        types = ["null", "boolean", "object", "array", "number", "string", "integer"]
        return pick(
            [
                {"type": self.random.sample(types, self.random.randint(1, 4))},
                {"minimum": pick([0, 1, 1.5, 2])},
                {"exclusiveMaximum": pick([1, 2.5, 10])},
                {"multipleOf": pick([1, 2, 0.5])},
                {"minLength": pick([1, 2])},
                {"maxLength": pick([1, 3])},
                {"pattern": pick(["^a", "o", "^.{1,2}$", "[0-9]$"])},
                {"const": pick(VALUES)},
                {"enum": self.random.sample(VALUES, 6)},
            ]
        )

    def array(self, levels: int) -> dict[str, object]:
        """Keywords of arrays."""
        pick = self.random.choice
        if levels < 0:
            return pick([{"minItems": 1}, {"maxItems": 2}, {"uniqueItems": True}])
        return pick(
            [
                {"items": self.schema(levels)},
                {"prefixItems": [self.schema(levels) for _ in range(self.random.randint(1, 2))]},
                {"contains": self.schema(levels), "maxContains": pick([1, 2, 9])},
                {"contains": self.schema(levels), "minContains": pick([0, 1, 2])},
                {"unevaluatedItems": self.schema(levels)},
            ]
        )

    def object(self, levels: int) -> dict[str, object]:
        """Keywords of objects."""
        pick = self.random.choice
        name = pick(NAMES)
        if levels < 0:
            other = pick(NAMES)
            return pick([{"required": [name]}, {"minProperties": 2}, {"dependentRequired": {name: [other]}}])
        return pick(
            [
                {"properties": {key: self.schema(levels) for key in self.random.sample(NAMES, 2)}},
                {"patternProperties": {pick(["^a", "[0-9]", "o"]): self.schema(levels)}},
                {"additionalProperties": self.schema(levels)},
                {"propertyNames": self.schema(levels)},
                {"dependentSchemas": {name: self.schema(levels)}},
                {"unevaluatedProperties": self.schema(levels)},
            ]
        )

    def combined(self, levels: int) -> dict[str, object]:
        """Keywords that hold one value against several schemas."""
        several = [self.schema(levels) for _ in range(self.random.randint(1, 3))]
        return self.random.choice(
            [
                {"allOf": several},
                {"anyOf": several},
                {"oneOf": several},
                {"not": several[0]},
                {"if": several[0], "then": several[-1], "else": self.schema(levels)},
                {"$ref": "#/$defs/d", "$defs": {"d": several[0]}} if levels == 1 else {"allOf": several},
            ]
        )


def verdicts(schema: object) -> str:
    """One digit a value: 1 when it fits."""
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    return "".join(str(int(validator.is_valid(value))) for value in VALUES)


def is_refused(schema: object) -> bool:
    """Whether it is no schema."""
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError:
        return True
    return False


def main() -> None:
    """Writes the file, one schema a line."""
    if metadata.version("jsonschema") != VERSION:
        raise SystemExit(f"this takes jsonschema {VERSION}")
    chance = Chance(2020)
    schemas = SCHEMAS + [chance.schema(2) for _ in range(400)]
    for schema in REFUSED:
        assert is_refused(schema), schema

    def line(value: object) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    cases = ",\n".join(line({"schema": schema, "verdicts": verdicts(schema)}) for schema in schemas)
    print(f'{{"made_with":"jsonschema {VERSION}",\n"values":{line(VALUES)},\n"refused":{line(REFUSED)},')
    print('"cases":[')
    print(cases + "\n]}")


main()
