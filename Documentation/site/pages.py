"""The common parts of all pages of the site: the template, addresses, and the entries of the search."""

from __future__ import annotations

import html
import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from string import Template

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FORMATTER = HtmlFormatter(nowrap=True)


@dataclass
class Site:
    """The folder that the site is written to, and what its search finds."""

    folder: Path
    # A heading with titles and addresses.
    navigation: list[tuple[str, list[tuple[str, str]]]] = field(default_factory=list)
    # Title, place, address and text.
    entries: list[tuple[str, str, str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.template = Template((HERE / "page.html").read_text(encoding="utf-8"))

    def write(self, address: str, title: str, content: str) -> None:
        """Writes a page; links in its content are relative to it."""
        page = self.template.substitute(
            title=html.escape(title),
            root="../" * address.count("/"),
            navigation=self.navigation_of(address),
            content=content,
        )
        path = self.folder / address
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")

    def navigation_of(self, address: str) -> str:
        parts = []
        for heading, pages in self.navigation:
            items = "".join(
                f'<li><a href="{relative(target, address)}"{" aria-current=page" * (target == address)}>'
                f"{html.escape(title)}</a></li>"
                for title, target in pages
            )
            parts.append(f"<h2>{heading}</h2><ul>{items}</ul>")
        return "".join(parts)

    def find(self, title: str, place: str, address: str, text: str) -> None:
        """Adds what the search can find."""
        self.entries.append((title, place, address, " ".join(text.split())[:1500]))

    def finish(self) -> None:
        """Writes styles and the search."""
        for name in ("site.css", "search.js"):
            (self.folder / name).write_bytes((HERE / name).read_bytes())
        light = HtmlFormatter(style="default").get_style_defs("pre")
        dark = HtmlFormatter(style="github-dark").get_style_defs("pre")
        plain = "pre { background: var(--soft); }"
        styles = f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n{plain}\n"
        (self.folder / "code.css").write_text(styles, encoding="utf-8")
        index = json.dumps(self.entries, ensure_ascii=False, separators=(",", ":"))
        (self.folder / "search-index.js").write_text(f"window.satchelIndex = {index};\n", encoding="utf-8")


def relative(target: str, address: str) -> str:
    """A link to a page of the site from another one; both are addresses below its root."""
    path, _, anchor = target.partition("#")
    if path == address and anchor:
        return f"#{anchor}"
    return os.path.relpath(path, os.path.dirname(address) or ".") + (f"#{anchor}" if anchor else "")


def slug(heading: str, used: dict[str, int]) -> str:
    """The anchor of a heading, as repositories' web pages make it."""
    anchor = re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
    count = used.get(anchor, 0)
    used[anchor] = count + 1
    return f"{anchor}-{count}" if count else anchor


def colored(code: str, language: str) -> str:
    """Code as HTML, with its words marked where the language is known."""
    try:
        return highlight(code, get_lexer_by_name(language, stripnl=False), FORMATTER)
    except ClassNotFound:
        return html.escape(code)
