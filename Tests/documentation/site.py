"""Checks the site of the documentation: site.py FOLDER, after `make docs`.

- Every link between its pages leads to a page and an anchor that exist.
- Every page leads back to the guides.
- Every page works without a network: it loads nothing from elsewhere.
- The search finds guides, C functions, Python names and Swift symbols, and what it finds exists. It runs in
  node.
- The pages of the guides and of each reference are there.
"""

from __future__ import annotations

import json
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# A query, and how the address of one of its first results begins.
QUERIES = (
    ("wal reset", "architecture.html"),
    ("sensitive fields", "records.html#sensitive-fields"),
    ("satchel_store_open", "c/"),
    ("SATCHEL_ENEWER", "c/"),
    ("PhotoCatalogue.star", "python/satchel/photos"),
    ("satchel.aio Store.sync", "python/satchel/aio"),
    ("StoreSyncReport", "swift/satchel/"),
    ("compare-and-set", "glossary.html"),
    ("linking", "c.html#linking"),
)
REFERENCES = ("c/modules.html", "python/satchel.html", "python/satchel/aio.html", "swift/satchel/store.html")
EXPECTED = ("index.html", "records.html", "manual.html", *REFERENCES)

SEARCH = """
const fs = require("fs"), {searchIndex} = require(process.argv[1]);
global.window = {};
eval(fs.readFileSync(process.argv[2], "utf8"));
const queries = JSON.parse(process.argv[3]);
const addresses = query => searchIndex(window.satchelIndex, query, 12).map(hit => hit[2]);
console.log(JSON.stringify(queries.map(addresses)));
"""


class Page(HTMLParser):
    """The anchors of a page, its links, and what a browser loads with it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {name: value for name, value in attributes if value is not None}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        self.loaded += [found["src"]] if "src" in found else []
        if tag == "link" and "href" in found:
            self.loaded.append(found["href"])


class Checked:
    """A site whose pages are read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pages = {path: Page(path) for path in sorted(folder.rglob("*.html"))}
        self.faults: list[str] = []
        self.count = 0

    def follow(self, link: str, page: Path) -> None:
        """Checks that a link leads somewhere."""
        parts = urlsplit(link)
        if parts.scheme or parts.netloc or link.startswith("//"):
            return
        self.count += 1
        target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        if not target.is_file():
            self.faults.append(f"{page.relative_to(self.folder)}: {link}: no such file")
        elif parts.fragment and target in self.pages:
            anchors = self.pages[target].anchors
            if not {parts.fragment, unquote(parts.fragment)} & anchors:
                self.faults.append(f"{page.relative_to(self.folder)}: {link}: no such anchor")

    def links(self) -> None:
        for path, page in self.pages.items():
            for link in page.links:
                self.follow(link, path)

    def homes(self) -> None:
        """Every page of a reference leads back to the guides."""
        home = self.folder / "index.html"
        for path, page in self.pages.items():
            # The first page of pdoc only leads to the package, and the results of Doxygen have no frame.
            part = path.relative_to(self.folder).as_posix()
            if "/" in part and part != "python/index.html" and not part.startswith("c/search/"):
                self.count += 1
                if not any((path.parent / link).resolve() == home for link in page.links):
                    self.faults.append(f"{path.relative_to(self.folder)}: no link to index.html")

    def loads(self) -> None:
        for path, page in self.pages.items():
            for link in page.loaded:
                parts = urlsplit(link)
                if parts.scheme in ("data", "javascript"):
                    continue
                if parts.scheme or parts.netloc or link.startswith("/"):
                    self.faults.append(f"{path.relative_to(self.folder)}: loads {link}")
                else:
                    self.follow(link, path)

    def search(self) -> None:
        index = self.folder / "search-index.js"
        entries = json.loads(index.read_text(encoding="utf-8").partition(" = ")[2].rstrip().rstrip(";"))
        for _, _, address, _ in entries:
            self.follow(address, self.folder / "index.html")
        queries = json.dumps([query for query, _ in QUERIES])
        command = ["node", "-e", SEARCH, str(self.folder / "search.js"), str(index), queries]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for (query, wanted), addresses in zip(QUERIES, found, strict=True):
            self.count += 1
            if not any(address.startswith(wanted) for address in addresses):
                self.faults.append(f'search: "{query}" gives {addresses}, not {wanted}')

    def expected(self) -> None:
        for name in EXPECTED:
            self.count += 1
            if not (self.folder / name).is_file():
                self.faults.append(f"{name} is missing")


def main(folder: Path) -> int:
    site = Checked(folder.resolve())
    for check in (site.expected, site.links, site.homes, site.loads, site.search):
        check()
    for fault in site.faults:
        print(fault, file=sys.stderr)
    print(f"site: {len(site.pages)} pages, {site.count} links, results and queries")
    print(f"{site.count - len(site.faults)} passed, {len(site.faults)} failed")
    return 1 if site.faults else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
