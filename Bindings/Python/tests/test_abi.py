"""The header is the contract: the table made from it, the map and the library agree with C."""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path
from typing import Any, Dict, List, Tuple

import pytest
from helpers import ROOT

import satchel
from satchel import _abi, errors
from satchel._library import library

HEADER = re.sub(r"/\*.*?\*/", "", (ROOT / "Include/satchel.h").read_text(encoding="utf-8"), flags=re.DOTALL)
STRUCTS: Dict[str, type[ctypes.Structure]] = {
    re.findall("``(satchel_.*?)``", kind.__doc__ or "")[0]: kind
    for kind in vars(_abi).values()
    if isinstance(kind, type) and issubclass(kind, ctypes.Structure) and hasattr(kind, "_fields_")
}


@pytest.fixture(scope="module")
def numbers_of_c(tmp_path_factory: pytest.TempPathFactory) -> Dict[str, int]:
    """The header's constants, and the sizes and offsets of its structs, as a C compiler has them."""
    wanted: List[str] = re.findall(r"(SATCHEL_\w+) = \d+", HEADER)
    for name in re.findall(r"typedef struct (\w+) \{", HEADER):
        wanted.append(f"sizeof({name})")
        body = re.findall(rf"typedef struct {name} \{{(.*?)\}}", HEADER, re.DOTALL)[0]
        fields = re.findall(r"\(\*(\w+)\)\(|(\w+);", body)
        wanted += [f"offsetof({name}, {one or other})" for one, other in fields]
    lines = "".join(f'printf("%s=%zu\\n", "{each}", (size_t){each});' for each in wanted)
    folder: Path = tmp_path_factory.mktemp("abi")
    source = "#include <satchel.h>\n#include <stddef.h>\n#include <stdio.h>\n"
    (folder / "abi.c").write_text(f"{source}int main(void) {{ {lines} }}\n", encoding="utf-8")
    subprocess.run(["cc", "-I", ROOT / "Include", "-o", folder / "abi", folder / "abi.c"], check=True)
    printed = subprocess.run([folder / "abi"], check=True, capture_output=True, text=True).stdout
    pairs = (line.partition("=") for line in printed.splitlines())
    return {name: int(number) for name, _, number in pairs}


def test_a_struct_has_the_layout_of_c(numbers_of_c: Dict[str, int]) -> None:
    ours = {}
    for name, kind in STRUCTS.items():
        ours[f"sizeof({name})"] = ctypes.sizeof(kind)
        for field in kind._fields_:
            ours[f"offsetof({name}, {field[0]})"] = getattr(kind, field[0]).offset
    assert ours == {name: number for name, number in numbers_of_c.items() if "of(" in name}


def test_a_word_has_the_number_of_c(numbers_of_c: Dict[str, int]) -> None:
    ours = [
        (word, number)
        for name, words in vars(_abi).items()
        if name.isupper() and isinstance(words, dict) and name != "FUNCTIONS"
        for word, number in words.items()
    ]
    names = {
        name: number for name, number in numbers_of_c.items() if re.match(r"SATCHEL_(?!E[A-Z]+$|OK$)", name)
    }
    assert len(ours) > 30
    assert sorted(ours) == sorted(
        (name.split("_", 2)[2].lower(), number)
        for name, number in names.items()
        if not name.endswith(("_DEFAULT", "_NONE"))
    )


Types = Tuple[Any, Tuple[Any, ...]]
WORDS = {"json": "JSON"}
CALLBACKS: Dict[str, Any] = {
    name: getattr(_abi, "".join(WORDS.get(word, word.capitalize()) for word in name.split("_")[1:]))
    for name in re.findall(r"typedef [^;{}]*?\(\*(\w+)\)\(", HEADER)
}
#: The types of C that are not pointers, and the one of a callback that has no name.
KINDS: Dict[str, Any] = {
    "void": None,
    "double": ctypes.c_double,
    "_Bool": ctypes.c_bool,
    "size_t": ctypes.c_size_t,
    **{f"{name}_t": getattr(ctypes, f"c_{name}") for name in ("int32", "int64", "uint32", "uint64")},
    **dict.fromkeys(re.findall(r"typedef enum (\w+) \{", HEADER), ctypes.c_int),
    "void (*) (void *)": _abi.Release,
    **CALLBACKS,
    **STRUCTS,
}


def kind_of(declared: str) -> Any:
    """A type of C in ctypes, where any handle is a pointer to anything."""
    name = declared.replace("const ", "").strip()
    if name in KINDS:
        return KINDS[name]
    pointed = name[:-1].strip()
    if pointed == "char":
        return ctypes.c_char_p
    if pointed == "void" or f"typedef struct {pointed} {pointed};" in HEADER:
        return ctypes.c_void_p
    return ctypes.POINTER(kind_of(pointed))


def types_of_c(folder: Path, probes: Dict[str, str]) -> Dict[str, Types]:
    """The types of the functions of C as a compiler reads them; `probes` are pointers to further ones."""
    lines = [f"extern __typeof__(*({pointer})) {name};" for name, pointer in probes.items()]
    (folder / "types.c").write_text("\n".join(["#include <satchel.h>", *lines, ""]), encoding="utf-8")
    options: List[Any] = ["-fsyntax-only", "-I", ROOT / "Include", "-aux-info", folder / "types"]
    subprocess.run(["gcc", *options, folder / "types.c"], check=True)
    found = {}
    listed = re.findall(r" extern (.*?[ *])(\w+) \((.*)\);", (folder / "types").read_text(encoding="utf-8"))
    for result, name, parameters in listed:
        if name.startswith("satchel_"):
            # Those of a callback among them have commas too.
            each = [] if parameters == "void" else re.split(r", (?![^(]*\))", parameters)
            found[name] = (kind_of(result), tuple(map(kind_of, each)))
    return found


def test_the_table_has_the_types_of_every_function(tmp_path: Path) -> None:
    functions = types_of_c(tmp_path, {})
    assert len(functions) > 100
    assert functions == _abi.FUNCTIONS


def test_a_callback_has_the_types_of_c(tmp_path: Path) -> None:
    pointers = {f"satchel_{name}": (f"({name})0", kind) for name, kind in CALLBACKS.items()}
    for struct, fields in STRUCTS.items():
        for field in fields._fields_:
            if hasattr(field[1], "_argtypes_"):
                pointers[f"satchel_{struct}_{field[0]}"] = (f"(({struct} *)0)->{field[0]}", field[1])
    of_c = types_of_c(tmp_path, {name: pointer for name, (pointer, _) in pointers.items()})
    assert len(pointers) > 10
    for name, (_, kind) in pointers.items():
        assert (name, kind._restype_, kind._argtypes_) == (name, *of_c[name])


def test_the_map_exports_the_functions_of_the_table() -> None:
    exported = re.findall(r"(satchel_\w+);", (ROOT / "Include/satchel.map").read_text(encoding="utf-8"))
    assert sorted(exported) == sorted(_abi.FUNCTIONS)


def test_the_library_exports_the_functions_of_the_table_and_nothing_else() -> None:
    listing = subprocess.run(
        ["nm", "--dynamic", "--defined-only", library._name], check=True, capture_output=True, text=True
    ).stdout
    names = {line.split()[-1].split("@")[0] for line in listing.splitlines() if " A " not in line}
    assert names == set(_abi.FUNCTIONS)


def test_there_is_an_error_class_for_every_status_of_the_header() -> None:
    statuses = {int(number): name for name, number in re.findall(r"SATCHEL_(E\w+) = (\d+)", HEADER)}
    assert {status: kind.code for status, kind in errors.BY_STATUS.items()} == statuses
    for status, name in statuses.items():
        assert library.satchel_status_name(status) == b"SATCHEL_" + name.encode()


def test_the_package_has_the_version_of_the_header_and_the_library() -> None:
    version = re.search(r'SATCHEL_VERSION_STRING "(.*?)"', HEADER)
    assert version is not None
    assert satchel.__version__ == version.group(1) == satchel.library_version()
    assert f"libsatchel.so.{version.group(1).split('.')[0]}" == _abi.SONAME
