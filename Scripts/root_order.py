#!/usr/bin/env python3
"""Writes Sources/CRootOrder/table.c from Unicode's table of collation elements (DUCET, UTS #10).

    root_order.py [FOLDER]     FOLDER has allkeys.txt, UnicodeData.txt and PropList.txt of one version of Unicode: that of
                               Debian's package unicode-data is /usr/share/unicode

Entries that follow from others are left out, and RootOrderTable.swift derives them in the same way: those of characters
with a canonical or compatibility decomposition (UTS #10, section 10.2, has their tertiary weights), of capital letters, and
of ideographs. Of the others, runs of characters with consecutive weights are one or two bytes. The script checks that the
table and the rules give every entry of allkeys.txt.
"""

import hashlib
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
IGNORABLE = ((0, 0, 0),)
CAPITALS = {0x08, 0x09, 0x0A, 0x0B, 0x0C, 0x1D}
KANA = range(0x0D, 0x14)
# The tertiary weights of a decomposition: of small letters, and of capital ones.
TERTIARY = {
    "wide": (0x03, 0x09),
    "compat": (0x04, 0x0A),
    "font": (0x05, 0x0B),
    "circle": (0x06, 0x0C),
    "super": (0x14, 0x14),
    "sub": (0x15, 0x15),
    "small": (0x0F, 0x0F),
    "narrow": (0x12, 0x12),
    "vertical": (0x16, 0x16),
    "initial": (0x17, 0x17),
    "medial": (0x18, 0x18),
    "final": (0x19, 0x19),
    "isolated": (0x1A, 0x1A),
    "noBreak": (0x1B, 0x1B),
    "square": (0x1C, 0x1D),
    "fraction": (0x1E, 0x1E),
}
HAN_CORE, HAN_OTHER, UNASSIGNED = 0xFB40, 0xFB80, 0xFBC0


class Unicode:
    """The contents of the files."""

    def __init__(self, folder):
        self.digests = {}
        self.entries, self.implicit = {}, []
        for line in self.lines(folder / "allkeys.txt"):
            if line.startswith("@version"):
                self.version = line.split()[1]
            elif line.startswith("@implicitweights"):
                first, last, lead = re.match(
                    r"\S+ (\w+)\.\.(\w+); (\w+)", line
                ).groups()
                self.implicit.append((int(first, 16), int(last, 16), int(lead, 16)))
            elif ";" in line:
                characters, elements = line.split(";")
                found = re.findall(r"\[[.*](\w+)\.(\w+)\.(\w+)\]", elements)
                key = tuple(int(one, 16) for one in characters.split())
                self.entries[key] = tuple(
                    tuple(int(weight, 16) for weight in one) for one in found
                )
        self.decompositions, self.small = {}, {}
        for line in self.lines(folder / "UnicodeData.txt"):
            fields = line.split(";")
            character = int(fields[0], 16)
            if fields[5]:
                kind, parts = re.match(r"(?:<(\w+)> )?(.*)", fields[5]).groups()
                self.decompositions[character] = (
                    kind,
                    [int(part, 16) for part in parts.split()],
                )
            if fields[13]:
                self.small[character] = int(fields[13], 16)
        self.ideographs = []
        for line in self.lines(folder / "PropList.txt"):
            if re.search(r";\s*Unified_Ideograph", line):
                ends = [int(end, 16) for end in line.split(";")[0].split("..")]
                self.ideographs.append((ends[0], ends[-1]))

    def lines(self, path):
        data = path.read_bytes()
        self.digests[path.name] = hashlib.sha256(data).hexdigest()
        return [line.split("#")[0].strip() for line in data.decode().splitlines()]

    def is_canonical(self, character):
        """Whether normal form D replaces it."""
        return (
            0xAC00 <= character <= 0xD7A3
            or self.decompositions.get(character, ("",))[0] is None
        )

    def parts(self, character):
        """The full decomposition."""
        if character not in self.decompositions:
            return [character]
        return [
            last
            for part in self.decompositions[character][1]
            for last in self.parts(part)
        ]

    def implicit_ranges(self):
        """First, last, lead and origin of the characters whose weights follow from their code points."""
        origins = {}
        ranges = []
        for first, last, lead in self.implicit:
            origins.setdefault(lead, first)
            ranges.append((first, last, lead, origins[lead]))
        for first, last in self.ideographs:
            # Unified ideographs of the first block, and those among the compatibility ideographs.
            core = 0x4E00 <= first <= 0x9FFF or 0xF900 <= first <= 0xFAFF
            ranges.append((first, last, HAN_CORE if core else HAN_OTHER, 0))
        return sorted(ranges)


class Table:
    """The entries that are stored, and the rules that give the others."""

    def __init__(self, unicode):
        self.unicode = unicode
        self.ranges = unicode.implicit_ranges()
        self.stored = {}
        single = [
            key[0]
            for key in unicode.entries
            if len(key) == 1 and not unicode.is_canonical(key[0])
        ]
        for character in single:
            if (
                character not in unicode.decompositions
                and character not in unicode.small
            ):
                self.stored[character] = unicode.entries[(character,)]
        self.contractions = {
            key: elements
            for key, elements in unicode.entries.items()
            if len(key) > 1
            and not any(unicode.is_canonical(character) for character in key)
        }
        # The reader needs the elements of what contractions consist of before it can apply a rule.
        for key in self.contractions:
            self.stored.update((one, unicode.entries[(one,)]) for one in key)
        # A rule may depend on an entry that is stored only because of another rule.
        while wrong := [
            one for one in single if self.elements(one) != unicode.entries[(one,)]
        ]:
            first = [one for one in wrong if one not in unicode.decompositions] or wrong
            self.stored.update((one, unicode.entries[(one,)]) for one in first)

    def elements(self, character):
        unicode = self.unicode
        if character in self.stored:
            return self.stored[character]
        if character in unicode.decompositions:
            kind = unicode.decompositions[character][0]
            found = [
                element
                for part in unicode.parts(character)
                for element in self.elements(part)
            ]
            return tuple(
                (first, second, self.tertiary(kind, third))
                for first, second, third in found
            )
        if character in unicode.small:
            found = self.elements(unicode.small[character])
            return tuple(
                (first, second, 8 if third == 2 else third)
                for first, second, third in found
            )
        for first, last, lead, origin in self.ranges:
            if first <= character <= last:
                break
        else:
            lead, origin = UNASSIGNED, 0
        offset = character - origin
        return ((lead + (offset >> 15), 0x20, 2), (offset & 0x7FFF | 0x8000, 0, 0))

    @staticmethod
    def tertiary(kind, weight):
        if weight == 0:
            return 0
        if kind == "circle" and weight in KANA:
            return 0x13
        if kind == "narrow" and weight == 0x0F:
            return 0x10
        if kind == "super" and weight == 8:
            return 0x1D
        return TERTIARY[kind][weight in CAPITALS]

    def encoded(self):
        writer = Writer()
        writer.singles(self.stored)
        by_first = {}
        for key in sorted(self.contractions):
            by_first.setdefault(key[0], []).append(key)
        writer.number(len(by_first))
        for first, keys in by_first.items():
            writer.number(first)
            self.write_contractions(writer, keys)
        writer.number(len(self.ranges))
        for first, last, lead, origin in self.ranges:
            for number in (first, last - first + 1, lead, origin):
                writer.number(number)
        return bytes(writer.bytes)

    def write_contractions(self, writer, keys):
        """A vowel that is written before its consonant is sorted after it: a range of consonants, count and 0. Others are
        their length, the further characters and their elements."""
        swapped = [
            key
            for key in keys
            if self.contractions[key] == self.elements(key[1]) + self.elements(key[0])
        ]
        if swapped:
            assert swapped == keys
            runs = []
            for _, second in swapped:
                if runs and runs[-1][0] + runs[-1][1] == second:
                    runs[-1][1] += 1
                else:
                    runs.append([second, 1])
            writer.number(len(runs))
            for second, count in runs:
                for number in (0, second, count):
                    writer.number(number)
            return
        writer.number(len(keys))
        for key in keys:
            writer.number(len(key) - 1)
            for character in key[1:]:
                writer.number(character)
            writer.elements(self.contractions[key])


class Writer:
    """The bytes that RootOrderTable.swift reads."""

    def __init__(self):
        self.bytes = bytearray()
        self.primary = 0
        self.secondary = 0

    def number(self, number):
        while number >= 0x80:
            self.bytes.append(number & 0x7F | 0x80)
            number >>= 7
        self.bytes.append(number)

    def difference(self, number):
        self.number(number * 2 if number >= 0 else -number * 2 - 1)

    def elements(self, elements):
        """Each is a secondary weight, the change of the primary weight, or an ideograph's two elements."""
        items = bytearray()
        items, self.bytes = self.bytes, items
        count = 0
        for primary, secondary, tertiary in elements:
            if primary and not secondary:
                continue
            count += 1
            if primary >= HAN_CORE:
                following = elements[
                    elements.index((primary, secondary, tertiary)) + 1
                ][0]
                lead = HAN_OTHER if primary >= HAN_OTHER else HAN_CORE
                self.number(
                    (
                        ((primary - lead) << 15 | following & 0x7FFF) << 1
                        | (lead == HAN_OTHER)
                    )
                    * 4
                    + 3
                )
            elif primary:
                assert secondary == 0x20
                change = primary - self.primary
                self.number((change * 2 if change >= 0 else -change * 2 - 1) * 4 + 1)
                self.primary = primary
            else:
                self.number(secondary * 2)
            self.bytes.append(tertiary)
        items, self.bytes = self.bytes, items
        self.bytes.append(count)
        self.bytes += items

    def run(self, count):
        if count <= 0x40:
            self.bytes.append(count - 1)
        else:
            self.bytes.append(0x83)
            self.number(count)

    def singles(self, stored):
        characters = sorted(stored)
        index, next_character = 0, 0
        while index < len(characters):
            gap = characters[index] - next_character
            if 0 < gap <= 0x20:
                self.bytes.append(0x40 + gap - 1)
            elif gap:
                self.bytes.append(0x80)
                self.number(gap)
            count = self.characters(stored, characters, index)
            index += count
            next_character = characters[index - 1] + 1
        self.bytes.append(0x84)

    def characters(self, stored, characters, index):
        """Writes a character, or a run, and returns how many."""
        elements = stored[characters[index]]
        primary, secondary, tertiary = elements[0]

        def count(expected):
            count = 1
            while (
                index + count < len(characters)
                and characters[index + count] == characters[index] + count
                and stored[characters[index + count]] == expected(count)
            ):
                count += 1
            return count

        if elements == IGNORABLE:
            ignorable = count(lambda _: IGNORABLE)
            self.bytes.append(0x81)
            self.number(ignorable)
            return ignorable
        if len(elements) == 1 and primary == 0 and tertiary == 2:
            self.bytes.append(0x86)
            self.difference(secondary - self.secondary)
            self.secondary = secondary
            return 1
        if len(elements) > 1 or primary == 0 or secondary != 0x20:
            self.bytes.append(0x85)
            self.elements(elements)
            return 1
        change = primary - self.primary
        if tertiary != 2:
            self.bytes.append(0x60 + tertiary)
            self.difference(change)
            self.primary = primary
            return 1
        run = count(lambda offset: ((primary + offset, 0x20, 2),))
        self.primary = primary + run - 1
        change -= 1
        if change and run == 1 and -0x20 <= change < 0x20:
            self.bytes.append(0xE0 + change)
            return 1
        if change and -0x10 <= change < 0x10:
            self.bytes.append(0xB0 + change)
        elif change:
            self.bytes.append(0x82)
            self.difference(change)
        self.run(run)
        return run


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/share/unicode")
    unicode = Unicode(folder)
    data = Table(unicode).encoded()
    lines = []
    line = " "
    for byte in data:
        if len(line) + len(f" {byte},") > 110:
            lines.append(line)
            line = " "
        line += f" {byte},"
    lines.append(line)
    sources = "\n".join(
        f" *   {name} {digest}" for name, digest in sorted(unicode.digests.items())
    )
    out = ROOT / "Sources/CRootOrder/table.c"
    out.write_text(f"""/* The collation elements of Unicode {unicode.version} that do not follow from others. Written by
 * Scripts/root_order.py from these files, with their SHA-256:
{sources}
 * Copyright of the data: Unicode, Inc.; see https://www.unicode.org/terms_of_use.html */
#include "CRootOrder.h"

static const uint8_t table[] = {{
{chr(10).join(lines)}
}};

const uint8_t *satchel_root_order(size_t *count) {{
  *count = sizeof table;
  return table;
}}

const char *satchel_root_order_version(void) {{ return "{unicode.version}"; }}
""")
    print(f"{out.relative_to(ROOT)}: {len(data)} bytes")


if __name__ == "__main__":
    main()
