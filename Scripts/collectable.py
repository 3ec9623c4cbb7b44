"""Lets the linker remove from an object of the Swift runtime what nothing refers to.

Usage: collectable.py OBJECT

The toolchain's Swift.o marks nearly each of its sections as one that stays (SHF_GNU_RETAIN), as a shared runtime needs
it. In a library that exports nothing of the runtime, these are 0.9 MB of functions that are never called. The mark stays
on the tables that the runtime reads as a whole, by the names of their sections.
"""

import struct
import sys
from pathlib import Path

RETAIN = 0x200000
#: Types, protocols and conformances, in which the runtime searches.
TABLES = "swift5_"


def main(path: Path) -> None:
    data = bytearray(path.read_bytes())
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
    cleared = 0
    for section in range(table, table + count * size, size):
        name, _, flags = struct.unpack_from("<IIQ", data, section)
        if flags & RETAIN and not data.startswith(TABLES.encode(), strings + name):
            struct.pack_into("<Q", data, section + 8, flags & ~RETAIN)
            cleared += 1
    if not cleared:
        sys.exit(f"{path}: no section is marked as one that stays; the step may have become needless")
    path.write_bytes(data)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
