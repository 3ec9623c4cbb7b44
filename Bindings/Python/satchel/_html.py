"""Results as tables of HTML, which notebooks show."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import date
from typing import Any, Dict, Iterable, List, Sequence, TypeVar

__all__ = ["Rows", "escaped", "html_of", "html_of_some"]

_Row = TypeVar("_Row")

#: The maximum number of rows and columns of a table, and of characters of a value.
_ROWS, _COLUMNS, _CHARACTERS = 50, 16, 200


class Rows(List[_Row]):
    """A list of results that notebooks show as a table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return html_of_some(self[:_ROWS], len(self))


def html_of_some(results: Iterable[Any], count: int) -> str:
    """Results as a table with a row for each.

    :param count: of all results, of which these are the first
    """
    rows = [members_of(each) for each in results]
    # In the order in which they occur.
    columns = list(dict.fromkeys(name for row in rows for name in row))[:_COLUMNS]
    body = [[_text(row[name]) if name in row else "" for name in columns] for row in rows]
    return _table(columns, body, _more(count - len(rows)))


def html_of(result: Any) -> str:
    """A result as a table with a row for each of its members."""
    members = members_of(result)
    body = [[name, _text(value)] for name, value in list(members.items())[:_ROWS]]
    return _table([type(result).__name__, ""], body, _more(len(members) - len(body)))


def members_of(result: Any) -> Dict[str, Any]:
    """The columns of a result: its public fields; for a record its id and its document's members."""
    if not dataclasses.is_dataclass(result):
        return {"": result}
    names = [each.name for each in dataclasses.fields(result) if each.repr and not each.name.startswith("_")]
    members = {name: getattr(result, name) for name in names}
    document = members.pop("document", None)
    if isinstance(document, Mapping):
        return {"id": members.get("id"), **{str(name): value for name, value in document.items()}}
    if document is not None:
        return {"id": members.get("id"), **members_of(document)}
    return members


def _text(value: Any) -> str:
    # Of dates and times, their text is that of ISO 8601.
    text = str(value) if isinstance(value, (str, date)) else repr(value)
    return text if len(text) <= _CHARACTERS else text[:_CHARACTERS] + "…"


def _more(count: int) -> str:
    return f"<p>{count} more</p>" if count > 0 else ""


def escaped(text: str) -> str:
    """A text as HTML shows it."""
    # Imported here, because it imports the names of all characters.
    from html import escape

    return escape(text)


def _table(columns: Sequence[str], body: Iterable[Sequence[str]], more: str) -> str:
    def cells(tag: str, texts: Sequence[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{escaped(text)}</{tag}>" for text in texts) + "</tr>"

    rows = "".join(cells("td", row) for row in body)
    return f"<table><thead>{cells('th', columns)}</thead><tbody>{rows}</tbody></table>{more}"
