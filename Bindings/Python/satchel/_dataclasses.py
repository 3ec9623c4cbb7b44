"""The decorator of records: :func:`dataclasses.dataclass`, with slots where Python has them."""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING, Any, Callable

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(**options: Any) -> Callable[[type], type]:
        """As :func:`dataclasses.dataclass`."""
        # slots came with Python 3.10.
        if sys.version_info >= (3, 10):
            options["slots"] = True
        return dataclasses.dataclass(**options)
