"""Reads the pages that the tool writes, and checks that they are harmless."""

import base64
import hashlib
import re
from html.parser import HTMLParser

HARMFUL = set("\x00\x1b\x85\u202e\u2066\u2069\u2028\u061c\u200f")
LOADING = {"src", "href", "xlink:href", "srcset", "data", "action", "formaction", "poster", "background"}
VOID = {"meta", "input", "br", "img", "link", "hr"}


class Page(HTMLParser):
    """The elements and texts of a page, checked to be well nested."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.texts = []
        self.open = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else None, data))

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    def text(self, tag):
        return [data for name, data in self.texts if name == tag]


def check_harmless(page, has_script=True):
    """The page loads nothing and runs only its own script, if any, which its policy allows by hash."""
    foreign = {"link", "img", "iframe", "object", "embed", "base", "form", "image", "use", "foreignobject"}
    for tag, attributes in page.elements:
        assert tag not in foreign
        assert not any(name.startswith("on") or name == "style" for name in attributes), (tag, attributes)
        for name in LOADING & set(attributes):
            assert attributes[name].startswith("#"), (tag, attributes)
        assert not HARMFUL & set("".join(value or "" for value in attributes.values()))
    [policy] = [meta["content"] for meta in page.all("meta") if "http-equiv" in meta]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    own = [("style", "style-src"), *([("script", "script-src")] if has_script else [])]
    assert set(rules) == {"default-src", *(rule for _, rule in own), "base-uri", "form-action"}
    assert has_script or page.all("script") == []
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    for tag, rule in own:
        assert len(page.all(tag)) == 1
        [text] = page.text(tag)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'", f"the hash in the Swift file of the {tag} is wrong"
        assert not re.search(r"https?:|//[a-z]|@import|url\(", text)
    assert not any(HARMFUL & set(data) for _, data in page.texts)
