"""Writes what a fuzzer begins with: seeds.py TARGET FOLDER."""

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

FIXTURES = Path(__file__).resolve().parent.parent / "Fixtures"


def values(value: object) -> Iterator[object]:
    """The value, and every object inside it."""
    yield value
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for child in children:
        if isinstance(child, dict | list):
            yield from values(child)


def texts() -> Iterator[str]:
    for file in sorted((FIXTURES / "vectors").glob("*.json")):
        for value in values(json.loads(file.read_text())):
            yield json.dumps(value, ensure_ascii=False)
    yield from (FIXTURES / "places.jsonl").read_text().splitlines()


def edits() -> Iterator[str]:
    vectors = json.loads((FIXTURES / "vectors" / "edits.json").read_text())
    for value in values(vectors):
        if isinstance(value, dict) and "existing" in value:
            config = value.get("config") or {
                key: value[key] for key in ("operation", "target_path", "match") if key in value
            }
            yield "\n".join(json.dumps(part) for part in (value["existing"], value.get("new"), config))
    patch = [{"op": "add", "path": "/a/-", "value": 1}, {"op": "move", "from": "/a/0", "path": "/b"}]
    news = {"merge": {"a": [2]}, "append": [2], "merge_patch": {"a": None}, "patch": patch}
    for operation, new in news.items():
        yield "\n".join(json.dumps(part) for part in ({"a": [1]}, new, {"operation": operation}))
    removal = {"operation": "remove", "target_path": "a", "match": {"x": 1}}
    yield "\n".join(json.dumps(part) for part in ({"a": [{"x": 1}]}, None, removal))


def sections() -> Iterator[str]:
    def entity(key: str, scope: str) -> dict[str, object]:
        return {"local_name": key, "_storage": {"entity_id": f"s:{key}", "scope": scope, "ttl_hours": 24}}

    nested = {"A": entity("a", "locality"), "B": entity("b", "global"), "C": {"plain": [1, 2.5, "é"]}}
    nested["A"]["cards"] = [entity("inner", "country")]
    for content in (nested, {"items": [entity("a", "locality"), entity("c", "coordinate"), 1]}, [], None):
        yield json.dumps({"section": "s", "display_title": "S", "content": content}, ensure_ascii=False)
    config = {"operation": "append", "target_path": "items"}
    yield json.dumps({"section": "s", "action": "edit", "config": config, "content": [entity("d", "global")]})
    yield json.dumps({"section": "s", "content": {"x": {"_storage": {"entity_id": 1}}}})


def stories() -> Iterator[str]:
    for case in json.loads((FIXTURES / "vectors" / "stories.json").read_text())["cases"]:
        yield json.dumps(case["story"], ensure_ascii=False)
        yield json.dumps(case["story"], indent=1)
    asset = {"_asset": {"sha256": "0a" * 32, "size": 1, "type": "image/png", "url": "https://example.org/a"}}
    files = ["README.md", "readme.md", "photos/small.png", "../x", "/x", "data:,x", "photos", "", asset]
    choice = {"id": "c", "text": "On", "nextSegmentId": "b", "sound": files}
    yield json.dumps({"image": asset, "segments": [{"id": "a", "image": files, "choices": [choice]}]})
    yield ':: A\n<img src="photos/a%20b.png?x"> [img[A|README.md][B]]\n\n:: B\n<audio src=x></audio>\n'
    yield ":: StoryData\n" + json.dumps({"ifid": "D674C58C-DEFA-4F70-B7A2-27742230C0FC", "start": "A"})
    yield ":: A [authentic]\nTo [[B]], [[by road->B]] or [[B<-by sea]].\n\n:: B [ending]\nThe end.\n"
    macros = '<<if $x>>[[B|C]]<<goto $y>><</if>> (link-goto: "x", "C")'
    yield f':: A\n{macros}\n\n:: C \\[x\\] {{"position":"1,2"}}\n'


def pictures() -> Iterator[bytes]:
    for name in ("photos/*.jpg", "photos/*.png", "pictures/*.png"):
        for file in sorted(FIXTURES.glob(name)):
            yield file.read_bytes()


def main() -> None:
    target, folder = sys.argv[1], Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    seeds: dict[str, Callable[[], Iterator[str | bytes]]] = {
        "FuzzJSON": texts,
        "FuzzEdit": edits,
        "FuzzCatalogue": sections,
        "FuzzStories": stories,
        "FuzzPictures": pictures,
    }
    for number, seed in enumerate(dict.fromkeys(seeds[target]())):
        (folder / f"{number:04}").write_bytes(seed if isinstance(seed, bytes) else seed.encode())


if __name__ == "__main__":
    main()
