"""Builds the pages of the documentation's site: build.py FOLDER, as build.sh calls it.

FOLDER/site has the reference of satchel.h already, FOLDER/xml what Doxygen knows about it, and FOLDER/docc
the data of DocC about the Swift modules.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pdoc
import pdoc.doc
import pdoc.docstrings
import pdoc.extract
import pdoc.render
import satchel

from guides import GUIDES, TOPICS, Guides
from pages import HERE, Site
from swift_reference import SwiftReference


def find_header(site: Site, folder: Path) -> None:
    """Lets the search find what satchel.h declares."""
    for file in sorted(folder.glob("*.xml")):
        for compound in ElementTree.parse(file).iter("compounddef"):
            if compound.get("kind") in ("struct", "union"):
                name = compound.findtext("compoundname") or ""
                brief = text_of(compound, "briefdescription")
                site.find(name, "C: satchel.h", f"c/{compound.get('id')}.html", brief)
            for member in compound.iter("memberdef"):
                page, _, anchor = (member.get("id") or "").rpartition("_1")
                name = member.findtext("name") or ""
                text = f"{text_of(member, 'briefdescription')} {text_of(member, 'detaileddescription')}"
                site.find(name, "C: satchel.h", f"c/{page}.html#{anchor}", text)
                for value in member.iter("enumvalue"):
                    page, _, anchor = (value.get("id") or "").rpartition("_1")
                    site.find(
                        value.findtext("name") or "",
                        f"C: {name}",
                        f"c/{page}.html#{anchor}",
                        text_of(value, "briefdescription"),
                    )


def text_of(element: ElementTree.Element, name: str) -> str:
    found = element.find(name)
    return "".join(found.itertext()).strip() if found is not None else ""


def write_python(site: Site) -> None:
    """The reference of the Python package, by pdoc."""
    show_what_is_inherited()
    show_all_fields()
    hide_how_twins_are_made()
    # It looks for the types of a class in the module that shows it, and not in the one that declares it.
    warnings.filterwarnings("ignore", "Error parsing type annotation", module=r"pdoc\.")
    pdoc.render.configure(docformat="restructuredtext", footer_text="Satchel", show_source=False)
    # satchel.aio is imported by those who use it, and so not a member of the package.
    modules = ["satchel", "satchel.aio"]
    pdoc.pdoc(*modules, output_directory=site.folder / "python")
    for name in pdoc.extract.walk_specs(modules):
        module = pdoc.doc.Module(pdoc.extract.load_module(name))
        for member in members(module):
            place = f"Python: {member.modulename}"
            address = f"python/{member.modulename.replace('.', '/')}.html#{member.qualname}"
            site.find(member.qualname, place, address, member.docstring)


def show_what_is_inherited() -> None:
    """Lets a class have what it inherits from a private one; pdoc would leave it out."""
    origin_of = pdoc.doc.Class._taken_from

    def taken_from(shown: pdoc.doc.Class, name: str, value: object) -> tuple[str, str]:
        module, qualified = origin_of(shown, name, value)
        if not module.startswith("satchel.") or qualified.split(".")[0] in vars(satchel):
            return module, qualified
        return shown.modulename, f"{shown.qualname}.{name}"

    pdoc.doc.Class._taken_from = taken_from


def show_all_fields() -> None:
    """Lets pdoc read `:returns:`, which it calls `:return:`, and colons in the text of a parameter, of which
    it would take the last for the end of the name."""
    origin_of = pdoc.docstrings._rst_fields

    def fields(docstring: str) -> str:
        docstring = re.sub(r"^:returns:", ":return:", docstring, flags=re.MULTILINE)
        docstring = re.sub(r"^(:(?:param|raises) [^:\n]+:) ", r"\1\n    ", docstring, flags=re.MULTILINE)
        return origin_of(docstring)

    pdoc.docstrings._rst_fields = fields


def hide_how_twins_are_made() -> None:
    """Leaves out what only `satchel.aio` itself calls: the constructors of its classes, and the decorator
    that gives them docstrings."""
    docstring_of, decorators_of = pdoc.doc.Function.docstring.func, pdoc.doc.Class.decorators.func

    def docstring(shown: pdoc.doc.Function) -> str:
        is_internal = shown.name == "__init__" and shown.modulename.startswith("satchel.aio")
        return "@private" if is_internal else docstring_of(shown)

    def decorators(shown: pdoc.doc.Class) -> list[str]:
        return [name for name in decorators_of(shown) if not name.startswith("@twin_of(")]

    pdoc.doc.Function.docstring = property(docstring)
    pdoc.doc.Class.decorators = property(decorators)


def members(namespace: pdoc.doc.Namespace) -> Iterator[pdoc.doc.Doc]:
    """The declarations of a module or a class, with their members."""
    for member in namespace.own_members:
        if member.name.startswith("_") or member.kind == "module" or not member.docstring:
            continue
        yield member
        if isinstance(member, pdoc.doc.Class):
            yield from members(member)


def adapt(site: Site) -> None:
    """Lets the pages of Doxygen and pdoc lead back to the guides, and gives them the site's styles."""
    (site.folder / "reference.css").write_bytes((HERE / "reference.css").read_bytes())
    topics = site.folder / "c/topics.html"  # as Doxygen calls it from 1.9.8 on
    if topics.exists():
        topics.rename(site.folder / TOPICS)
    for folder, place, link in (
        (
            "c",
            '<div id="projectname">Satchel',
            '<div id="projectname"><a href="{root}index.html">Satchel</a> '
            '<a href="modules.html">satchel.h</a>',
        ),
        (
            "python",
            '<nav class="pdoc">',
            '<nav class="pdoc"><p class="home"><a href="{root}index.html">Satchel: the guides</a></p>',
        ),
    ):
        for page in (site.folder / folder).rglob("*.html"):
            text = page.read_text(encoding="utf-8").replace("topics.html", "modules.html")
            root = "../" * len(page.relative_to(site.folder).parent.parts)
            text = text.replace(place, link.format(root=root), 1)
            style = f'<link rel="stylesheet" href="{root}reference.css">'
            page.write_text(text.replace("</head>", f"{style}</head>", 1), encoding="utf-8")


def main(folder: Path) -> None:
    site = Site(folder / "site")
    swift = SwiftReference(site, folder / "docc/data")
    pages = list(GUIDES.values())
    site.navigation = [
        ("Guides", pages[:6]),
        ("Languages", [*pages[6:9], ("The tool", "manual.html")]),
        ("Reference", [("satchel.h", TOPICS), ("Python package", "python/satchel.html")]),
        ("Swift modules", swift.modules()),
        ("Project", pages[9:]),
    ]
    Guides(site).write()
    swift.write()
    find_header(site, folder / "xml")
    write_python(site)
    adapt(site)
    site.finish()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
