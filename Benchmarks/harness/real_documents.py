"""Real documents of many sizes: the packages that the machine's Debian knows (apt-cache dumpavail).

Fields are as Debian names them; lists of packages become arrays, numbers integers, checksums an object.
"""

import json
import subprocess
from collections.abc import Iterator
from typing import Any

Document = dict[str, Any]
LISTS = {
    "Depends", "Pre-Depends", "Recommends", "Suggests", "Breaks", "Conflicts", "Replaces", "Provides",
    "Enhances", "Tag",
}  # fmt: skip
CHECKSUMS = {"MD5sum", "SHA1", "SHA256"}
NUMBERS = {"Size", "Installed-Size"}


def documents() -> dict[str, bytes]:
    """By name, version and architecture.

    :raises SystemExit: when the machine is no Debian, or has no lists of packages
    """
    try:
        done = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(f"there are no real documents to be had here: {error}") from None
    found = {}
    for stanza in done.stdout.decode().split("\n\n"):
        if stanza.strip():
            document = parse(stanza)
            key = "_".join(document[name] for name in ("Package", "Version", "Architecture"))
            found[key] = json.dumps(document, ensure_ascii=False).encode()
    if not found:
        raise SystemExit("apt knows no packages: run `apt-get update`")
    return found


def parse(stanza: str) -> Document:
    document: Document = {}
    for name, value in fields(stanza):
        if name in NUMBERS:
            document[name] = int(value)
        elif name in CHECKSUMS:
            document.setdefault("Checksums", {})[name] = value
        elif name in LISTS:
            document[name] = [each.strip() for each in value.replace("\n", " ").split(",") if each.strip()]
        else:
            document[name] = value
    return document


def fields(stanza: str) -> Iterator[tuple[str, str]]:
    """Names and values; a line that begins with a space goes on with the value."""
    name, lines = "", []
    for line in stanza.splitlines():
        if line[:1] in (" ", "\t"):
            lines.append(line.strip())
            continue
        if name:
            yield name, "\n".join(lines)
        name, _, value = line.partition(":")
        lines = [value.strip()]
    if name:
        yield name, "\n".join(lines)
