"""The reference of the Swift modules, from the data that DocC makes of their symbol graphs.

A type has a page with its members; what belongs to no type is on the page of its module.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pages import Site, colored, relative

Node = dict[str, Any]


class SwiftReference:
    """Renders DocC's data as pages below `swift/`."""

    def __init__(self, site: Site, data: Path) -> None:
        self.site = site
        self.root = data / "documentation"
        self.nodes: dict[str, Node] = {}
        for path in sorted(self.root.rglob("*.json")):
            name = path.relative_to(self.root).as_posix().removesuffix(".json")
            self.nodes[f"/documentation/{name}"] = json.loads(path.read_bytes())
        self.parents = {url.rpartition("/")[0] for url in self.nodes}

    def modules(self) -> list[tuple[str, str]]:
        """Titles and addresses, for the navigation."""
        urls = [url for url in self.nodes if url.count("/") == 2]
        return [(self.nodes[url]["metadata"]["title"], self.address(url)) for url in urls]

    def address(self, url: str) -> str:
        """Where a symbol is: a page, or an anchor of the page of its parent."""
        if url in self.parents or url.count("/") == 2:
            return f"swift{url.removeprefix('/documentation')}.html"
        parent, _, name = url.rpartition("/")
        return f"{self.address(parent)}#{name}"

    def write(self) -> None:
        for url, node in self.nodes.items():
            if self.is_group(url):
                continue
            self.find(url, node)
            address = self.address(url)
            if "#" not in address:
                content = self.symbol(url, node, address, 1)
                self.site.write(address, f"{node['metadata']['title']} · Satchel for Swift", content)

    def find(self, url: str, node: Node) -> None:
        titles = (self.nodes[up]["metadata"]["title"] for up in ancestors(url) if up in self.nodes)
        names = [title.rpartition(".")[2] for title in titles]
        place = f"Swift: {'.'.join(names) or node['metadata'].get('roleHeading', '')}"
        self.site.find(node["metadata"]["title"], place, self.address(url), plain(node.get("abstract", [])))

    def symbol(self, url: str, node: Node, address: str, level: int) -> str:
        """A symbol and, on its page, its members."""
        metadata = node["metadata"]
        parts = [f"<h{level}>{html.escape(metadata['title'])}</h{level}>"]
        parts += [f"<p>{self.inline(node.get('abstract', []), node, address)}</p>"]
        for section in node.get("primaryContentSections", []):
            parts.append(self.section(section, node, address))
        for section in node.get("relationshipsSections", []):
            names = (self.reference(identifier, node, address) for identifier in section["identifiers"])
            parts.append(f"<p>{html.escape(section['title'])}: {', '.join(names)}</p>")
        if level == 1:
            parts += [self.members(title, urls, address) for title, urls in self.topics(url, node)]
        return "\n".join(parts)

    def topics(self, url: str, node: Node) -> Iterator[tuple[str, list[str]]]:
        """The members of a type or a module, by their kinds."""
        listed: set[str] = set()
        for section in node.get("topicSections", []):
            urls = [node["references"].get(each, {}).get("url", "") for each in section["identifiers"]]
            urls = [each for each in urls if each in self.nodes and not self.is_group(each)]
            listed |= set(urls)
            if urls:
                yield section["title"], urls
        # DocC has them on pages of their own, one for each protocol.
        rest = [each for each in self.nodes if each.rpartition("/")[0] == url and each not in listed]
        if rest := [each for each in rest if not self.is_group(each)]:
            yield "Of protocols", rest

    def is_group(self, url: str) -> bool:
        return self.nodes[url]["metadata"].get("role") == "collectionGroup"

    def members(self, title: str, urls: list[str], address: str) -> str:
        parts = [f"<h2>{html.escape(title)}</h2>"]
        for url in urls:
            member, target = self.nodes[url], self.address(url)
            if "#" in target:
                anchor = html.escape(target.partition("#")[2])
                text = self.symbol(url, member, address, 3)
                parts.append(f'<section class="symbol" id="{anchor}">{text}</section>')
            else:
                summary = self.inline(member.get("abstract", []), member, address)
                link = f'<a href="{relative(target, address)}">{html.escape(member["metadata"]["title"])}</a>'
                parts.append(f"<p><strong>{link}</strong> {summary}</p>")
        return "\n".join(parts)

    def section(self, section: Node, node: Node, address: str) -> str:
        if section["kind"] == "declarations":
            tokens = section["declarations"][0]["tokens"]
            code = "".join(token["text"] for token in tokens)
            return f"<pre><code>{colored(code, 'swift')}</code></pre>"
        if section["kind"] == "parameters":
            items = []
            for each in section["parameters"]:
                text = self.blocks(each["content"], node, address)
                items.append(f"<dt><code>{html.escape(each['name'])}</code></dt><dd>{text}</dd>")
            return f"<dl>{''.join(items)}</dl>"
        if section["kind"] == "content":
            return self.blocks(section["content"], node, address)
        return ""

    def blocks(self, blocks: list[Node], node: Node, address: str) -> str:
        parts = []
        for block in blocks:
            kind = block["type"]
            if kind == "paragraph":
                parts.append(f"<p>{self.inline(block['inlineContent'], node, address)}</p>")
            elif kind == "heading" and block["text"] not in ("Overview", "Discussion"):
                parts.append(f"<h4>{html.escape(block['text'])}</h4>")
            elif kind == "codeListing":
                code = "\n".join(block["code"])
                parts.append(f"<pre><code>{colored(code, block.get('syntax') or 'swift')}</code></pre>")
            elif kind in ("unorderedList", "orderedList"):
                tag = "ul" if kind == "unorderedList" else "ol"
                items = (f"<li>{self.blocks(item['content'], node, address)}</li>" for item in block["items"])
                parts.append(f"<{tag}>{''.join(items)}</{tag}>")
            elif kind == "aside":
                name = html.escape(block.get("name", ""))
                parts.append(f"<p><strong>{name}</strong></p>{self.blocks(block['content'], node, address)}")
            elif kind == "table":
                rows = [[self.blocks(cell, node, address) for cell in row] for row in block["rows"]]
                cells = ("".join(f"<td>{cell}</td>" for cell in row) for row in rows)
                parts.append(f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>")
        return "\n".join(parts)

    def inline(self, content: list[Node], node: Node, address: str) -> str:
        parts = []
        for each in content:
            kind = each["type"]
            if kind == "codeVoice":
                parts.append(f"<code>{html.escape(each['code'])}</code>")
            elif kind == "reference":
                parts.append(self.reference(each["identifier"], node, address))
            elif kind in ("emphasis", "strong"):
                tag = "em" if kind == "emphasis" else "strong"
                parts.append(f"<{tag}>{self.inline(each['inlineContent'], node, address)}</{tag}>")
            else:
                parts.append(html.escape(each.get("text", "")))
        return "".join(parts)

    def reference(self, identifier: str, node: Node, address: str) -> str:
        """A symbol that is mentioned: a link, when it has a place here."""
        found = node["references"].get(identifier, {})
        title = f"<code>{html.escape(found.get('title', identifier.rpartition('/')[2]))}</code>"
        url = found.get("url", "")
        if url in self.nodes:
            return f'<a href="{html.escape(relative(self.address(url), address))}">{title}</a>'
        return f'<a href="{html.escape(url)}">{title}</a>' if "://" in url else title


def ancestors(url: str) -> list[str]:
    """The modules and types that a symbol is in, from the outside."""
    parts = url.split("/")
    return ["/".join(parts[:end]) for end in range(3, len(parts))]


def plain(content: list[Node]) -> str:
    return "".join(each.get("text") or each.get("code") or "" for each in content)
