"""The C interface, Include/satchel.h, in ctypes: the text of satchel/_abi.py."""

from __future__ import annotations

import re
from typing import Dict, Iterator, List, Tuple

SCALARS = {
    "void": "None",
    "bool": "c_bool",
    "double": "c_double",
    "size_t": "c_size_t",
    "int32_t": "c_int32",
    "int64_t": "c_int64",
    "uint32_t": "c_uint32",
    "uint64_t": "c_uint64",
    "char *": "c_char_p",
    "void *": "c_void_p",
}
#: One pointer to bytes: ctypes reads c_char_p best.
BYTES = '''
class Bytes(Structure):
    """``satchel_bytes``: bytes lent for the length of one call; ``Bytes(b"…", size)`` copies nothing."""

    _fields_ = (("data", c_char_p), ("size", c_size_t))


class Buffer(Structure):
    """``satchel_buffer``: bytes that the library made and the caller frees.

    Reading ``data`` copies the bytes before the first NUL: all of them, if there are ``size``.
    """

    _fields_ = (("data", c_char_p), ("size", c_size_t))


class _Sized(Structure):
    """The base of the structs that begin with their size, which is set."""

    def __init__(self, **fields: Any) -> None:
        super().__init__(size=sizeof(self), **fields)


Release = CFUNCTYPE(None, c_void_p)
'''
#: Values that stand for an option that is not given, and are no words for it.
NO_WORDS = {"default", "none"}


def text(header: str) -> str:
    """The module for a header."""
    found = _Header(header)
    names = sorted({*SCALARS.values(), "c_int"} - {"None"})
    return "\n".join(
        [
            '"""The C interface, satchel.h, in ctypes; written by generate.py from the header."""',
            "# ruff: noqa: E501",
            "",
            "from __future__ import annotations",
            "",
            f"from ctypes import CFUNCTYPE, POINTER, Structure, {', '.join(names)}, sizeof",
            "from typing import Any, Dict, Tuple",
            "",
            f'SONAME = "libsatchel.so.{found.major}"',
            "",
            *found.words(),
            "",
            BYTES,
            *found.types(),
            "",
            "#: Every function of the header: name, result type, parameter types. Handles are c_void_p.",
            "FUNCTIONS: Dict[str, Tuple[Any, Tuple[Any, ...]]] = {",
            *found.functions(),
            "}",
            "",
        ]
    )


class _Header:
    """A header without its comments, and the ctypes of its types."""

    def __init__(self, header: str) -> None:
        self.text = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
        self.major = re.findall(r"#define SATCHEL_VERSION_MAJOR (\d+)", header)[0]
        self.kinds: Dict[str, str] = {**SCALARS, "satchel_bytes": "Bytes", "satchel_buffer": "Buffer"}
        for handle in re.findall(r"typedef struct (\w+) \1;", self.text):
            self.kinds[f"{handle} *"] = "c_void_p"
        self.enums = re.findall(r"typedef enum (\w+) \{(.*?)\} \1;", self.text, re.DOTALL)
        self.kinds.update({name: "c_int" for name, _ in self.enums})

    def words(self) -> Iterator[str]:
        """The enumerations, by the words of their values."""
        for name, values in self.enums:
            numbers = re.findall(r"SATCHEL_[A-Z]+_(\w+) = (\d+)", values)
            words = [
                f'"{word.lower()}": {number}' for word, number in numbers if word.lower() not in NO_WORDS
            ]
            if words:
                yield f"{name[len('satchel_') :].upper()} = {{{', '.join(words)}}}"

    def types(self) -> Iterator[str]:
        """The callbacks and the structs, in the order of the header."""
        for declaration in re.finditer(
            r"typedef ([^;{}]*?\(\*\w+\)\(.*?\));|typedef struct (\w+) \{(.*?)\} \2;", self.text, re.DOTALL
        ):
            callback, struct, fields = declaration.groups()
            if callback:
                name, kind = self._declared(callback)
                yield f"{_class_name(name)} = {kind}"
                self.kinds[name] = _class_name(name)
            elif struct not in self.kinds:
                yield from self._struct(struct, [each for each in fields.split(";") if each.strip()])

    def _struct(self, name: str, fields: List[str]) -> Iterator[str]:
        declared = []
        for field, kind in map(self._declared, fields):
            if kind.startswith("CFUNCTYPE"):
                own = _class_name(f"{name.rpartition('_')[0]}_{field}")
                yield f"{own} = {kind}"
                kind = own
            declared.append(f'("{field}", {kind})')
        yield from ("", "", f"class {_class_name(name)}(_Sized):", f'    """``{name}``."""', "")
        yield f"    _fields_ = ({', '.join(declared)})"
        yield from ("", "")
        self.kinds[name] = _class_name(name)

    def functions(self) -> Iterator[str]:
        """The entries of the table of functions."""
        pattern = r"SATCHEL_API ([^;(]*?)(satchel_\w+)\((.*?)\);"
        for result, name, parameters in re.findall(pattern, self.text, re.DOTALL):
            kinds = self._kinds(parameters)
            end = "," if len(kinds) == 1 else ""
            yield f'    "{name}": ({self._declared(f"{result}x")[1]}, ({", ".join(kinds)}{end})),'

    def _kinds(self, parameters: str) -> List[str]:
        # Those of a callback among them have commas too.
        every = [] if parameters.strip() == "void" else re.split(r",(?![^(]*\))", parameters)
        return [self._declared(each)[1] for each in every]

    def _declared(self, declaration: str) -> Tuple[str, str]:
        """The name and the type of a declaration such as ``const char *path``."""
        line = " ".join(declaration.split()).replace("const ", "")
        callback = re.fullmatch(r"(\w+) \(\*(\w+)\)\((.*)\)", line)
        if callback:
            result, name, parameters = callback.groups()
            kind = f"CFUNCTYPE({', '.join([self.kinds[result], *self._kinds(parameters)])})"
            return name, "Release" if kind == "CFUNCTYPE(None, c_void_p)" else kind
        parts = re.fullmatch(r"(.*?[ *])(\w+)", line)
        if parts is None:
            raise ValueError(f"satchel.h: {line} is not understood")
        kind = parts[1].strip()
        if kind in self.kinds:
            return parts[2], self.kinds[kind]
        pointed = kind[:-1].strip()
        return parts[2], f"POINTER({self.kinds[pointed]})"


def _class_name(name: str) -> str:
    parts = name.replace("satchel_", "").split("_")
    return "".join("JSON" if part == "json" else part.capitalize() for part in parts)
