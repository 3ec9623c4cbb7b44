"""Lets the linker remove from objects of Swift what nothing refers to.

Usage: collectable.py [--unreflected] OBJECT…

The compiler marks rows of the tables in which the runtime searches for types, protocols and conformances as ones that
stay (SHF_GNU_RETAIN), with all that they refer to; the toolchain's Swift.o has this mark on nearly each of its sections.
In a library that exports neither, these are 1.3 MB that are never used. Here a row stays as long as its type or
protocol does (SHF_LINK_ORDER): without the descriptor of a type, no value of it can exist.

With --unreflected, types lose the names of their members: Mirror finds none, and a value that has no description of its
own prints as its type. The library makes texts of errors in this way, and its own have descriptions.

Objects keep their times, since a build compares them.
"""

import os
import re
import struct
import sys
from pathlib import Path
from typing import NamedTuple

RETAIN = 0x200000
LINK_ORDER = 0x80
RELA, SYMTAB = 4, 2

#: Tables of the runtime by the names of their sections. A row refers to a descriptor of a type or protocol; or to a
#: conformance, which has references to the descriptors of its protocol and its type at these places.
ROWS = {
    "swift5_protocol_conformances": (4, 0),
    "swift5_type_metadata": (),
    "swift5_protocols": (),
}
#: Tables that only debuggers search. Others with this prefix stay.
PREFIX = "swift5_"
FIELDS = "swift5_fieldmd"
UNSEARCHED = {
    "swift5_assocty",
    "swift5_builtin",
    "swift5_capture",
    FIELDS,
    "swift5_mpenum",
}
#: Descriptors. Those of other objects are referred to through pointers, which have names of their own.
DESCRIPTOR = re.compile(r"\$s.*M[np]")
#: Descriptors that are always there: the runtime finds types and protocols by a letter which the compiler names so (Si is
#: Int), and printing asks for some protocols. A conformance to these depends on its type.
ALWAYS = re.compile(r"\$sS[A-Za-z]M[np]|\$ss\d+Custom(Debug)?StringConvertibleMp|\$ss\d+CustomReflectableMp")


class Section(NamedTuple):
    header: int
    name: str
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int


class Symbol(NamedTuple):
    name: str
    section: int
    value: int


class Object:
    """An ELF object, as far as needed."""

    def __init__(self, path: Path) -> None:
        self.data = data = bytearray(path.read_bytes())
        if data[:6] != b"\x7fELF\x02\x01":
            sys.exit(f"{path}: not an ELF object of 64 bits, little-endian")
        (table,) = struct.unpack_from("<Q", data, 0x28)
        size, count, names = struct.unpack_from("<HHH", data, 0x3A)
        # Numbers that two bytes cannot hold are in the first section.
        if count == 0:
            (count,) = struct.unpack_from("<Q", data, table + 0x20)
        if names == 0xFFFF:
            (names,) = struct.unpack_from("<I", data, table + 0x28)
        (strings,) = struct.unpack_from("<Q", data, table + names * size + 0x18)
        self.sections = [self._section(table + n * size, strings) for n in range(count)]
        self._relocations = {s.info: s for s in self.sections if s.kind == RELA}
        self._symbols = self._read_symbols()

    def _text(self, offset: int) -> str:
        return self.data[offset : self.data.index(0, offset)].decode()

    def _section(self, header: int, strings: int) -> Section:
        name, kind, flags, _, offset, size, link, info = struct.unpack_from("<IIQQQQII", self.data, header)
        return Section(header, self._text(strings + name), kind, flags, offset, size, link, info)

    def _read_symbols(self) -> list[Symbol]:
        table = next(s for s in self.sections if s.kind == SYMTAB)
        strings = self.sections[table.link].offset
        rows = struct.iter_unpack("<IBBHQQ", self.data[table.offset : table.offset + table.size])
        return [Symbol(self._text(strings + name), section, value) for name, _, _, section, value, _ in rows]

    def referred(self, section: int, place: int) -> Symbol | None:
        """The named symbol, of this object, to which the place in a section refers."""
        table = self._relocations.get(section)
        if table is None:
            return None
        for at, info, _ in struct.iter_unpack("<QQq", self.data[table.offset : table.offset + table.size]):
            symbol = self._symbols[info >> 32]
            if at == place:
                return symbol if symbol.name and 0 < symbol.section < 0xFF00 else None
        return None

    def forget_fields(self) -> int:
        """Makes the relocations by which types refer to their members ones that do nothing, to nothing."""
        forgotten = 0
        for number, table in self._relocations.items():
            if self.sections[number].name.startswith(PREFIX):
                continue
            for place in range(table.offset + 8, table.offset + table.size, 24):
                (info,) = struct.unpack_from("<Q", self.data, place)
                section = self._symbols[info >> 32].section
                if section < len(self.sections) and self.sections[section].name == FIELDS:
                    struct.pack_into("<Q", self.data, place, 0)
                    forgotten += 1
        return forgotten

    def set(self, section: Section, flags: int, link: int) -> None:
        struct.pack_into("<Q", self.data, section.header + 8, flags)
        struct.pack_into("<I", self.data, section.header + 0x28, link)


def descriptor(elf: Object, row: int, places: tuple[int, ...]) -> Symbol | None:
    """The descriptor on which a row of the runtime's tables depends."""
    direct = elf.referred(row, 0)
    if direct is None:
        return None
    conformed = [elf.referred(direct.section, direct.value + place) for place in places]
    for symbol in conformed if places else [direct]:
        if symbol and DESCRIPTOR.fullmatch(symbol.name) and not ALWAYS.fullmatch(symbol.name):
            return symbol
    return None


def collectable(path: Path, is_reflected: bool) -> int:
    """How many sections and references of an object have changed."""
    elf = Object(path)
    cleared = 0 if is_reflected else elf.forget_fields()
    for number, section in enumerate(elf.sections):
        if not section.flags & RETAIN:
            continue
        flags = section.flags & ~RETAIN
        if section.name in ROWS:
            found = descriptor(elf, number, ROWS[section.name])
            if found is None:
                continue
            elf.set(section, flags | LINK_ORDER, found.section)
        elif not section.name.startswith(PREFIX) or section.name in UNSEARCHED:
            elf.set(section, flags, section.link)
        cleared += 1
    if cleared:
        times = path.stat()
        path.write_bytes(elf.data)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    return cleared


def main(arguments: list[str]) -> None:
    is_reflected = arguments[0] != "--unreflected"
    paths = arguments if is_reflected else arguments[1:]
    if not sum(collectable(Path(path), is_reflected) for path in paths):
        sys.exit("no section is marked as one that stays; the step may have become needless")


if __name__ == "__main__":
    main(sys.argv[1:])
