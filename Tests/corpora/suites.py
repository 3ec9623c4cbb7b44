"""Verdicts about JSON, JSON Patch and CSV, against the suites of others.

Usage: suites.py FOLDER, with clones of github.com/nst/JSONTestSuite, json-patch/json-patch-tests and
maxogden/csv-spectrum
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import satchel

#: Texts that RFC 8259 allows, and that are refused: of two members with one name one would be lost in
#: silence, and C's strings could not hold a name with a NUL.
STRICTER = {
    "y_object_duplicated_key.json",
    "y_object_duplicated_key_and_value.json",
    "y_object_escaped_null_in_key.json",
}


def parsing(folder: Path) -> list[str]:
    """JSONTestSuite: texts that begin with y_ are JSON, those with n_ are not, of i_ each parser decides."""
    wrong = []
    files = sorted((folder / "JSONTestSuite" / "test_parsing").glob("*.json"))
    for file in files:
        try:
            satchel.json.check(file.read_bytes())
            verdict = "y"
        except satchel.InvalidArgument:
            verdict = "n"
        if file.name[0] not in (verdict, "i") and not (verdict == "n" and file.name in STRICTER):
            wrong.append(f"{file.name}: {verdict}")
    print(f"JSONTestSuite: {len(files)} texts, {len(wrong)} wrong verdicts, {len(STRICTER)} stricter")
    return wrong


def patching(folder: Path) -> list[str]:
    """json-patch-tests: the result of each patch, or that it is refused."""
    wrong, count = [], 0
    for name in ("tests.json", "spec_tests.json"):
        for test in json.loads((folder / "json-patch-tests" / name).read_text(encoding="utf-8")):
            if "patch" not in test or test.get("disabled"):
                continue
            count += 1
            label = f"{name}: {test.get('comment', test['patch'])}"
            try:
                found: Any = satchel.json.patch(test["doc"], test["patch"])
            except satchel.InvalidArgument as error:
                if "error" not in test:
                    wrong.append(f"{label}: {error}")
                continue
            if "error" in test:
                wrong.append(f"{label}: accepted, although {test['error']}")
            elif "expected" in test and not satchel.json.equal(found, test["expected"]):
                wrong.append(f"{label}: {found}")
    print(f"json-patch-tests: {count} patches, {len(wrong)} wrong results")
    return wrong


def separated(folder: Path) -> list[str]:
    """csv-spectrum: each field, as it is written there, is read as the name of a photo, and written again."""
    rows: list[bytes] = []
    expected: dict[str, str] = {}
    for file in sorted((folder / "csv-spectrum" / "json").glob("*.json")):
        text = (folder / "csv-spectrum" / "csvs" / file.with_suffix(".csv").name).read_bytes()
        for row in json.loads(file.read_text(encoding="utf-8")):
            # A photo needs a name.
            for value in filter(None, row.values()):
                quoted = b'"%b"' % value.encode().replace(b'"', b'""')
                md5 = f"{len(rows):032x}"
                rows.append(b"%b,%b,1,0,0,,," % (md5.encode(), quoted if quoted in text else value.encode()))
                expected[md5] = value
    with tempfile.TemporaryDirectory() as work, satchel.open(Path(work, "csv.satchel")) as store:
        photos = store.photos(work)
        report = photos.import_shard(0, b"\n".join(rows))
        read = {md5: photos.get(md5) or {} for md5 in expected}
        wrong = [
            f"{name!r}: {read[md5]}" for md5, name in expected.items() if read[md5].get("filename") != name
        ]
        wrong += [f"rejected: {each}" for each in report.rejected]
        photos.import_shard(0, photos.export_shard(0))
        wrong += [f"{md5}: changed by export" for md5, photo in read.items() if photos.get(md5) != photo]
    print(f"csv-spectrum: {len(rows)} fields, {len(wrong)} wrong")
    return wrong


def main(folder: str) -> int:
    wrong = [*parsing(Path(folder)), *patching(Path(folder)), *separated(Path(folder))]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
