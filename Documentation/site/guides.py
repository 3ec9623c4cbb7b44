"""The guides: Markdown files of the repository as pages, and the files that they link to."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from pages import ROOT, Site, colored, relative, slug

GLOSSARY = "Glossary"
# file of the repository: title, address
GUIDES = {
    "README.md": ("Overview", "index.html"),
    "Documentation/catalogue.md": ("Catalogue", "catalogue.html"),
    "Documentation/stories.md": ("Stories", "stories.html"),
    "Documentation/photos.md": ("Photos", "photos.html"),
    "Documentation/records.md": ("Records", "records.html"),
    "Documentation/state.md": ("State", "state.html"),
    "Documentation/assets.md": ("Assets", "assets.html"),
    "Documentation/accounts.md": ("Accounts", "accounts.html"),
    "Documentation/c-api.md": ("C", "c.html"),
    "Documentation/python.md": ("Python", "python.html"),
    "Documentation/swift.md": ("Swift", "swift.html"),
    "Documentation/compatibility.md": ("What stays the same", "compatibility.html"),
    "Documentation/bounds.md": ("Bounds", "bounds.html"),
    "Documentation/glossary.md": (GLOSSARY, "glossary.html"),
    "Documentation/architecture.md": ("Architecture", "architecture.html"),
    "CONTRIBUTING.md": ("Contributing", "contributing.html"),
    "CHANGELOG.md": ("Changes", "changelog.html"),
    "SECURITY.md": ("Security", "security.html"),
    "Benchmarks/README.md": ("Benchmarks", "benchmarks.html"),
    "Benchmarks/RESULTS.md": ("Results", "results.html"),
    "Examples/Backend/README.md": ("A backend", "backend.html"),
    "Examples/Stories/README.md": ("Tales", "tales.html"),
    "Tests/Fixtures/README.md": ("Fixtures", "fixtures.html"),
}
MANUAL = "Documentation/satchel.1"
# The sections of satchel.h, by Doxygen.
TOPICS = "c/modules.html"
ADDRESSES = {
    **{source: address for source, (_, address) in GUIDES.items()},
    "Include/satchel.h": TOPICS,
    MANUAL: "manual.html",
}
PICTURES = {".svg", ".png", ".jpg"}
LANGUAGES = {".swift": "swift", ".c": "c", ".h": "c", ".py": "python", ".json": "json"}


class Guides:
    """Renders the guides, and collects what they link to."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.sources: set[str] = set()
        self.markdown = MarkdownIt("commonmark", {"html": True, "highlight": self.highlight})
        self.markdown.enable(["table", "strikethrough"])

    @staticmethod
    def highlight(code: str, language: str, _: str) -> str:
        return colored(code, language.split()[0] if language else "text")

    def write(self) -> None:
        for source, (title, address) in GUIDES.items():
            self.write_guide(source, title, address)
        self.write_manual()
        for source in sorted(self.sources):
            self.write_source(source)

    def write_guide(self, source: str, title: str, address: str) -> None:
        tokens = self.markdown.parse((ROOT / source).read_text(encoding="utf-8"))
        headings: dict[str, int] = {}
        heading, anchor, text = title, "", ""
        for index, token in enumerate(tokens):
            if token.type == "heading_open":
                self.find(heading, title, address, anchor, text)
                heading = plain(tokens[index + 1])
                anchor, text = slug(heading, headings), ""
                token.attrSet("id", anchor)
            elif token.type == "tr_open" and title == GLOSSARY:
                term, meaning = (plain(tokens[index + offset]) for offset in (2, 5))
                token.attrSet("id", slug(term, headings))
                self.find(term, title, address, str(token.attrGet("id")), meaning)
            elif token.type in ("fence", "code_block"):
                text += f" {token.content}"
            elif token.type == "inline":
                text += f" {plain(token)}"
                for child in token.children or []:
                    self.move_links(child, source, address)
            elif token.type == "html_block":
                self.move_links(token, source, address)
        self.find(heading, title, address, anchor, text)
        content = self.markdown.renderer.render(tokens, self.markdown.options, {})
        self.site.write(address, f"{title} · Satchel", content)

    def find(self, heading: str, title: str, address: str, anchor: str, text: str) -> None:
        if text.strip():
            self.site.find(heading, title, f"{address}#{anchor}" if anchor else address, text)

    def move_links(self, token: Token, source: str, address: str) -> None:
        """Changes links between files of the repository to links between pages."""
        for name in ("href", "src"):
            if isinstance(link := token.attrGet(name), str):
                token.attrSet(name, self.link(link, source, address))
        if token.type in ("html_block", "html_inline"):
            token.content = re.sub(r"<!--.*?-->\n?", "", token.content, flags=re.DOTALL)
            token.content = re.sub(
                r'(src|href)="([^"]*)"',
                lambda found: f'{found[1]}="{self.link(found[2], source, address)}"',
                token.content,
            )

    def link(self, link: str, source: str, address: str) -> str:
        """A link of a guide, as the site has it."""
        path, _, anchor = link.partition("#")
        if "://" in link or link.startswith("mailto:") or not path:
            return link
        target = (ROOT / source).parent.joinpath(path).resolve().relative_to(ROOT).as_posix()
        if (ROOT / target).is_dir() and f"{target}/README.md" in ADDRESSES:
            target = f"{target}/README.md"
        found = ADDRESSES.get(target)
        if found is None and Path(target).suffix in PICTURES:
            found = f"images/{Path(target).name}"
            (self.site.folder / "images").mkdir(exist_ok=True)
            shutil.copyfile(ROOT / target, self.site.folder / found)
        if found is None:
            self.sources.add(target)
            found = source_address(target)
        return relative(f"{found}#{anchor}" if anchor else found, address)

    def write_source(self, source: str) -> None:
        """A file of the repository that a guide links to, or the list of a folder."""
        path, address = ROOT / source, source_address(source)
        if path.is_dir():
            files = subprocess.run(
                ["git", "-C", str(ROOT), "ls-files", source], check=True, capture_output=True, text=True
            ).stdout.split("\n")
            files = [name for name in files if name and (ROOT / name).suffix not in PICTURES]
            items = "".join(
                f'<li><a href="{relative(ADDRESSES.get(name, source_address(name)), address)}">'
                f"{html.escape(name)}</a></li>"
                for name in files
            )
            for name in files:
                if name not in ADDRESSES and name not in self.sources:
                    self.write_source(name)
            content = f"<ul>{items}</ul>"
        else:
            text = path.read_text(encoding="utf-8", errors="replace")
            content = f"<pre>{colored(text, LANGUAGES.get(path.suffix, 'text'))}</pre>"
        self.site.write(address, f"{source} · Satchel", f"<h1>{html.escape(source)}</h1>{content}")

    def write_manual(self) -> None:
        """The tool's man page, as a terminal shows it: a wide one, and a narrow one for phones."""
        address = ADDRESSES[MANUAL]
        wide, narrow = self.manual(100), self.manual(46)
        self.site.find("satchel", "the tool's man page", address, wide)
        pages = f'<pre class="wide">{html.escape(wide)}</pre><pre class="narrow">{html.escape(narrow)}</pre>'
        self.site.write(address, "satchel(1) · Satchel", f"<h1>satchel(1)</h1>{pages}")

    @staticmethod
    def manual(columns: int) -> str:
        # Without bold and underlining, which are escape sequences.
        command = ["groff", "-mdoc", "-Tutf8", "-P-cbou", f"-rLL={columns}n", str(ROOT / MANUAL)]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        # Without the lines of a printed page at its top and bottom, which do not follow the width.
        return "\n".join(text.strip().split("\n")[1:-1]).strip("\n")


def source_address(source: str) -> str:
    return f"source/{source}.html"


def plain(token: Token) -> str:
    """The text of a heading or a paragraph, without its markup."""
    return "".join(
        child.content if child.type in ("text", "code_inline") else " " if child.type == "softbreak" else ""
        for child in token.children or []
    )
