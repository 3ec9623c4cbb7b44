"""Entities that hold each other, delivery after delivery, end at limits."""

from __future__ import annotations

import json
import threading
from typing import Any, Dict, List

import pytest
from helpers import SHANGHAI, section, storage

import satchel


def entity(number: int, *inner: Dict[str, Any]) -> Dict[str, Any]:
    return {**{f"{key}": each for key, each in enumerate(inner)}, **storage(f"s:{number}")}


def deliver(catalogue: satchel.Catalogue, count: int, times: int) -> int:
    """Each delivery names the one before so many times; what is stored is kept. How many were taken."""
    for number in range(count):
        inner = [entity(number - 1)] * times if number else []
        try:
            catalogue.persist(
                SHANGHAI, section({"x": entity(number, *inner)}, f"{number}"), reuse="until_expiry"
            )
        except satchel.InvalidArgument as error:
            reason = str(error)
            break
    else:
        return count
    assert "/content" in reason
    return number


def on_small_stack(work: Any) -> None:
    raised: List[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            raised.append(error)

    before = threading.stack_size(512 << 10)
    try:
        thread = threading.Thread(target=run)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join(300)
    assert not thread.is_alive()
    if raised:
        raise raised[0]


def test_a_chain_needs_no_stack_and_has_an_end(catalogue: satchel.Catalogue) -> None:
    assert deliver(catalogue, 850, 1) == 510
    loaded: List[Any] = []
    on_small_stack(lambda: loaded.append(catalogue.load(SHANGHAI, "509")))
    assert json.dumps(loaded[0].content).count("{") == 511
    assert catalogue.load(SHANGHAI, "510") is None


def test_what_doubles_is_refused_before_it_is_too_much(catalogue: satchel.Catalogue) -> None:
    assert deliver(catalogue, 40, 2) == 16
    loaded = catalogue.load(SHANGHAI, "15")
    assert loaded is not None
    assert json.dumps(loaded.content).count("{}") == 2**15


def test_a_section_that_others_made_too_large_names_itself(catalogue: satchel.Catalogue) -> None:
    for number in range(20):
        inner = [entity(number + 1)] * 2
        catalogue.persist(SHANGHAI, section({"x": entity(number, *inner)}, f"{number}"))
    with pytest.raises(satchel.InvalidArgument, match=r"section 0: .*100000 entities"):
        catalogue.load(SHANGHAI, "0")
    assert catalogue.load(SHANGHAI, "10") is not None
    catalogue.persist(SHANGHAI, section({"x": 1}, "0"))
    loaded = catalogue.load(SHANGHAI, "0")
    assert loaded is not None
    assert loaded.content == {"x": 1}
