"""Splits sections of an object of Swift, so that the linker removes functions and tables one by one.

Usage: split.py OBJECT

The toolchain's Swift.o has what is not public in one section of each kind, 1.6 MB of functions: a library
that needs one of them has all, and all that these refer to. Here each function, table of witnesses, and name
of a type becomes a section of its own, where it lies: only the headers of sections, symbols and relocations
are written again, at the object's end. Calls within a section had no relocations, and get some: see objdump.

Only for x86-64: other objects stay as they are. What is not as expected ends the build.
"""

import re
import struct
import subprocess
import sys
from bisect import bisect_left, bisect_right
from itertools import count
from pathlib import Path

from collectable import RELA, SYMTAB, Object

#: Of .rodata, only tables of jumps: constants in it refer to each other without relocations.
SPLIT = (".text", ".data", ".data.rel.ro", "swift5_typeref")
X86_64 = 62
GROUP, SECTION_SYMBOL = 17, 3
EXECUTABLE = 4
#: The bytes before a place in a call or jump; and in instructions with nothing behind it: lea, mov, test.
CALLS, BARE = (0xE8, 0xE9), (0x8D, 0x8B, 0x89, 0x85)
#: Relocations of 32 bits, relative to their place: to data, and to a function.
PC32, PLT32 = 2, 4
#: Gaps between symbols are shorter when they are for alignment only.
PADDING = 32

NOP = re.compile(r"(?:data16 |cs )*nop|xchg +%ax,%ax")
REFERENCE = re.compile(r"(\w+)\b(?:.*\(%rip\).*#)? +([0-9a-f]+) <")


class Split:
    """An object whose sections are split."""

    def __init__(self, path: Path) -> None:
        self.elf = elf = Object(path)
        self.table = next(s for s in elf.sections if s.kind == SYMTAB)
        self.symbols = [list(row) for row in self._rows("<IBBHQQ", self.table.offset, self.table.size)]
        self.relocations = {
            s.info: [list(row) for row in self._rows("<QQq", s.offset, s.size)]
            for s in elf.sections
            if s.kind == RELA
        }
        self.numbers: dict[str, int] = {}
        for number, section in enumerate(elf.sections):
            self.numbers.setdefault(section.name, number)
        self.text = self.numbers[".text"]
        #: Instructions that refer to another place in their section: start, end, place.
        self.unrelocated: list[tuple[int, int, int]] = []
        #: Where instructions that do nothing begin, by where they end: they fill up to the next function.
        self.nops: dict[int, int] = {}
        self.related = {place for place, _, _ in self.relocations[self.text]}
        self._disassemble(path)
        self.functions = {addend for _, _, addend in self.relocations[self.numbers[".eh_frame"]]}
        self.functions |= {symbol[4] for symbol in self.symbols if symbol[3] == self.text}
        #: The places where a section is cut; the first is its start, whose piece keeps the section's number.
        self.cuts = {self.numbers[name]: self._cut(self.numbers[name]) for name in SPLIT}
        self.rodata = self.numbers[".rodata"]
        self.tables = self._tables()
        self.cuts[self.rodata] = [0]
        #: Pieces, by section and start, and their ends.
        self.ends: dict[tuple[int, int], int] = {}
        for number, cuts in self.cuts.items():
            ends = [*cuts[1:], elf.sections[number].size]
            self.ends |= {(number, cut): end for cut, end in zip(cuts, ends, strict=True)}
        for row, (start, _) in sorted(self.tables.items()):
            if start:
                self.ends[self.rodata, start] = row + 4
        numbers = count(len(elf.sections))
        self.pieces = {piece: next(numbers) if piece[1] else piece[0] for piece in self.ends}
        #: The symbol of each piece comes after the others that are local.
        self.names = {piece: self.table.info + n for n, piece in enumerate(self.ends)}

    def _rows(self, form: str, offset: int, size: int) -> list[tuple[int, ...]]:
        return list(struct.iter_unpack(form, self.elf.data[offset : offset + size]))

    def _disassemble(self, path: Path) -> None:
        listed = ["objdump", "--disassemble", "--wide", "--no-show-raw-insn", "--section=.text", str(path)]
        before = (0, "")
        for line in subprocess.run(listed, capture_output=True, text=True, check=True).stdout.splitlines():
            place, colon, instruction = line.partition(":\t")
            if not colon:
                continue
            start = int(place, 16)
            self._note(before[0], start, before[1])
            if NOP.match(before[1]):
                self.nops[start] = self.nops.get(before[0], before[0])
            before = (start, instruction)

    def _note(self, start: int, end: int, instruction: str) -> None:
        """Keeps an instruction that refers to a place without a relocation."""
        found = REFERENCE.match(instruction)
        if found and self.related.isdisjoint(range(start, end)):
            if not re.fullmatch(r"call|j\w+|lea", found[1]):
                sys.exit(f"split.py: an unknown instruction at {start}: {instruction}")
            self.unrelocated.append((start, end, int(found[2], 16)))

    def _cut(self, number: int) -> list[int]:
        """A cut precedes each symbol that does not lie in another one."""
        section = self.elf.sections[number]
        ours = [row for row in self.symbols if row[3] == number and row[1] & 15 != SECTION_SYMBOL]
        placed = sorted((value, -size) for _, _, _, _, value, size in ours)
        if number == self.text:
            cuts = {0} | {value for value, _ in placed}
            # Functions that reach each other by a short jump stay together.
            for start, end, target in self.unrelocated:
                if end - start < 5:
                    cuts -= set(range(min(start, target) + 1, max(start, target) + 1))
            return sorted(cuts)
        cuts, end = {0}, 0
        related = sorted(place for place, _, _ in self.relocations.get(number, []))
        for value, size in placed:
            # Bytes without a name belong to the next symbol: metadata is addressed behind its first words.
            gap = self.elf.data[section.offset + end : section.offset + value]
            is_empty = bisect_left(related, end) == bisect_left(related, value) and not any(gap)
            if value >= end and is_empty and len(gap) < PADDING:
                cuts.add(value)
            end = max(end, value - size)
        return sorted(cuts)

    def piece(self, number: int, place: int) -> tuple[int, int]:
        if number == self.rodata:
            return number, self.tables[place][0] if place in self.tables else 0
        cuts = self.cuts[number]
        return number, cuts[bisect_right(cuts, place) - 1]

    def _moved(self, symbol: int) -> int:
        return symbol if symbol < self.table.info else symbol + len(self.names)

    def _is_of(self, symbol: int, number: int) -> bool:
        return self.symbols[symbol][3] == number and self.symbols[symbol][1] & 15 == SECTION_SYMBOL

    def _target(self, number: int, row: list[int]) -> int:
        """The place in a section to which a relocation refers: of an instruction, counted from its end."""
        place, info, addend = row
        section = self.elf.sections[number]
        if not section.flags & EXECUTABLE or info & 0xFFFFFFFF not in (PC32, PLT32):
            return addend
        at = section.offset + place
        is_known = self.elf.data[at - 1] in CALLS or self.elf.data[at - 2] in BARE
        if not is_known and not self._is_of(info >> 32, self.rodata):
            sys.exit(f"split.py: an unknown instruction in {section.name} at {place}")
        return addend + 4

    def _tables(self) -> dict[int, tuple[int, tuple[int, int]]]:
        """The rows of tables of jumps in .rodata: the table's start, and the function that refers to it."""
        rodata = self.rodata
        rows = {place for place, info, _ in self.relocations[rodata] if self._is_of(info >> 32, self.text)}
        references = [row for row in self.relocations[self.text] if self._is_of(row[1] >> 32, rodata)]
        # Referred to by lea, with four bytes to its end.
        starts = {addend + 4: self.piece(self.text, place) for place, _, addend in references}
        found = {}
        for start in starts.keys() & rows:
            row = start
            while row in rows and (row == start or row not in starts):
                found[row] = (start, starts[start])
                row += 4
        return found

    def relocate(self) -> None:
        """Gives each reference to a split section the symbol of a piece."""
        for number, rows in self.relocations.items():
            for row in rows:
                place, info, addend = row
                symbol = info >> 32
                aim = self.symbols[symbol][3]
                if aim not in self.cuts or not self._is_of(symbol, aim):
                    row[1] = self._moved(symbol) << 32 | info & 0xFFFFFFFF
                    continue
                # A row of a table of jumps counts from its own place, and is added to the table's.
                table = self.tables.get(place) if number == self.rodata and aim == self.text else None
                target = self._target(number, row) - (place - table[0] if table else 0)
                piece = self.piece(aim, target)
                is_code = table or number != self.rodata or aim != self.text
                is_unknown = not is_code and target not in self.functions
                if is_unknown or table and piece != table[1]:
                    sys.exit(f"split.py: {self.elf.sections[number].name} refers to no function at {place}")
                row[1], row[2] = self.names[piece] << 32 | info & 0xFFFFFFFF, addend - piece[1]
        for start, end, target in self.unrelocated:
            piece = self.piece(self.text, target)
            if piece != self.piece(self.text, start):
                added = [end - 4, self.names[piece] << 32 | PC32, target - piece[1] - 4]
                self.relocations[self.text].append(added)

    def write(self, path: Path) -> None:
        """Appends the symbols, the relocations of what is split, and the headers of all sections."""
        data, sections = self.elf.data, self.elf.sections
        headers = [bytearray(data[s.header : s.header + 64]) for s in sections]
        headers += [bytearray(headers[number]) for number, cut in self.pieces if cut]
        for (number, start), end in self.ends.items():
            header = headers[self.pieces[number, start]]
            (aligned,) = struct.unpack_from("<Q", header, 0x30)
            if number == self.text:
                end = max(start, self.nops.get(end, end))
            struct.pack_into("<QQ", header, 0x18, sections[number].offset + start, end - start)
            struct.pack_into("<Q", header, 0x30, min(aligned, start & -start or aligned))
        # As functions of our own, which are compiled for size.
        for header in headers:
            if struct.unpack_from("<Q", header, 8)[0] & EXECUTABLE:
                struct.pack_into("<Q", header, 0x30, 1)
        for header in (headers[n] for n, s in enumerate(sections) if s.kind == GROUP):
            (symbol,) = struct.unpack_from("<I", header, 0x2C)
            struct.pack_into("<I", header, 0x2C, self._moved(symbol))
        for number, table in ((s.info, n) for n, s in enumerate(sections) if s.kind == RELA):
            parts: dict[int, list[tuple[int, int, int]]] = {number: []}
            for place, info, addend in sorted(self.relocations[number]):
                piece = self.piece(number, place) if number in self.cuts else (number, 0)
                parts.setdefault(self.pieces.get(piece, number), []).append((place - piece[1], info, addend))
            for part, rows in parts.items():
                header = headers[table] if part == number else bytearray(headers[table])
                self._append(header, b"".join(struct.pack("<QQq", *row) for row in rows))
                struct.pack_into("<I", header, 0x2C, part)
                if part != number:
                    headers.append(header)
        self._append(headers[sections.index(self.table)], self._packed_symbols())
        struct.pack_into("<I", headers[sections.index(self.table)], 0x2C, self.table.info + len(self.names))
        if len(headers) >= 0xFF00:
            sys.exit(f"split.py: {path} has too many sections")
        struct.pack_into("<Q", data, 0x28, len(data))
        struct.pack_into("<H", data, 0x3C, len(headers))
        path.write_bytes(data + b"".join(headers))

    def _append(self, header: bytearray, content: bytes) -> None:
        data = self.elf.data
        data.extend(bytes(-len(data) % 8))
        struct.pack_into("<QQ", header, 0x18, len(data), len(content))
        data.extend(content + bytes(-len(content) % 8))

    def _packed_symbols(self) -> bytes:
        for symbol in self.symbols:
            if symbol[3] in self.cuts and symbol[1] & 15 != SECTION_SYMBOL:
                piece = self.piece(symbol[3], symbol[4])
                symbol[3], symbol[4] = self.pieces[piece], symbol[4] - piece[1]
        added = [[0, SECTION_SYMBOL, 0, self.pieces[piece], 0, 0] for piece in self.names]
        local = self.table.info
        rows = self.symbols[:local] + added + self.symbols[local:]
        return b"".join(struct.pack("<IBBHQQ", *row) for row in rows)


def main(path: Path) -> None:
    if struct.unpack_from("<H", path.read_bytes(), 0x12)[0] != X86_64:
        return
    split = Split(path)
    split.relocate()
    split.write(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
