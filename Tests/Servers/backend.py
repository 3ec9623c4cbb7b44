"""A part of the backend that run.py has started, with its own content, faults and counts."""

from __future__ import annotations

import json
import os
import urllib.parse
import urllib.request
import uuid
from typing import Any, Dict

import pytest

#: Beyond any proxy of the environment.
_opened = urllib.request.build_opener(urllib.request.ProxyHandler({})).open


def started(variable: str, what: str) -> Dict[str, Any]:
    """Where something is that run.py has started, by the variable in which it says so."""
    text = os.environ.get(variable)
    if not text:
        pytest.fail(
            f"these tests need {what}: run them as `make test-python` does, with\n"
            "Tests/Servers/run.py ministack -- python -m pytest FILES",
            pytrace=False,
        )
    found: Dict[str, Any] = json.loads(text)
    return found


class Backend:
    """A space of content.py that no other test uses."""

    def __init__(self) -> None:
        told = started("SATCHEL_TEST_CONTENT", "a backend")
        name = f"python-{uuid.uuid4().hex}"
        self.url, self.other = f"{told['url']}/{name}", f"{told['other']}/{name}"
        self.closed = f"{told['closed']}/{name}"
        #: The same over https, with the certificate to trust, and one of another authority.
        self.secure = f"{told['secure']}/{name}"
        self.ca_file, self.wrong_ca_file = told["ca_file"], told["wrong_ca_file"]
        self._admin = f"{told['admin']}/{name}"

    def change(self, **changes: Any) -> None:
        """Changes content, settings or faults."""
        with _opened(f"{self._admin}?{urllib.parse.quote(json.dumps(changes))}") as answer:
            assert answer.status == 200

    def expect(self, *faults: Dict[str, Any]) -> None:
        """Lets faults happen, one after the other."""
        self.change(faults=list(faults), reset=True)

    @property
    def counts(self) -> Dict[str, Any]:
        """Returns the counts."""
        with _opened(self._admin) as answer:
            counts: Dict[str, Any] = json.load(answer)
            return counts
