"""Runs inside the bare root of wheel.sh: proves that it is bare, then uses the wheel."""

import ctypes
import os
import sys

FORBIDDEN = ("libjansson.so.4", "libsqlite3.so.0", "libutf8proc.so.2", "libnettle.so.8", "libsatchel.so.0")

for name in FORBIDDEN:
    try:
        ctypes.CDLL(name)
    except OSError:
        continue
    sys.exit(f"the root is not bare: {name} can be loaded")

for folder, _, files in os.walk("/"):
    for name in files:
        if "satchel" not in folder and any(name.startswith(each.split(".")[0]) for each in FORBIDDEN):
            sys.exit(f"the root is not bare: {folder}/{name}")

import use  # noqa: E402  (only now that the root is proven to be bare)

use.main()
print(f"works without {', '.join(FORBIDDEN[:4])}")
