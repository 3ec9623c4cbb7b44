"""Whether every public name has a docstring, and each docstring names every parameter and field."""

from __future__ import annotations

import dataclasses
import inspect
import pkgutil
import re
from types import ModuleType
from typing import Any, Iterator, List, Set, Tuple

import pytest

import satchel
import satchel.aio

PUBLIC = [
    satchel,
    satchel.aio,
    satchel.assets,
    satchel.backup,
    satchel.catalogue,
    satchel.catalogue.regions,
    satchel.errors,
    satchel.json,
    satchel.observer,
    satchel.photos,
    satchel.places,
    satchel.records,
    satchel.remote,
    satchel.session,
    satchel.sources,
    satchel.state,
    satchel.store,
    satchel.stories,
    satchel.sync,
    satchel.values,
]
#: Classes that a host makes itself, so that their docstrings describe the parameters.
MADE_BY_HOSTS = (satchel.remote.Directory, satchel.remote.S3, satchel.remote.Callbacks, satchel.HTTPSource)


def parameters(function: Any) -> Set[str]:
    return set(inspect.signature(function).parameters) - {"self", "cls"}


def unnamed(names: Set[str], docstring: str) -> List[str]:
    """The names that a docstring mentions neither as a parameter nor in backticks."""
    return sorted(each for each in names if not re.search(rf":param {each}:|``{each}``", docstring))


def functions_of(kind: type) -> Iterator[Tuple[str, Any]]:
    """The public methods and properties of a class that the package defines, inherited ones too."""
    for name in dir(kind):
        found = inspect.getattr_static(kind, name)
        function = found.fget if isinstance(found, property) else found
        if name.startswith("_") or not inspect.isfunction(function):
            continue
        if function.__module__.startswith("satchel"):
            yield name, function


def incomplete(name: str, thing: Any) -> Iterator[str]:
    if inspect.isclass(thing):
        docstring = inspect.getdoc(thing) or ""
        fields: Set[str] = set(getattr(thing, "_fields", ()))
        if dataclasses.is_dataclass(thing):
            fields = {each.name for each in dataclasses.fields(thing) if not each.name.startswith("_")}
        elif thing in MADE_BY_HOSTS:
            fields = parameters(thing)
        for each in unnamed(fields, docstring):
            yield f"{name} does not mention {each}"
        for method, function in functions_of(thing):
            for each in unnamed(parameters(function), inspect.getdoc(function) or ""):
                yield f"{name}.{method} does not mention {each}"
    elif inspect.isfunction(thing):
        for each in unnamed(parameters(thing), thing.__doc__ or ""):
            yield f"{name} does not mention {each}"


@pytest.mark.parametrize("module", PUBLIC, ids=lambda module: str(module.__name__))
def test_everything_that_is_offered_is_described(module: ModuleType) -> None:
    faults: List[str] = []
    assert len(set(module.__all__)) == len(module.__all__)
    for name in module.__all__:
        thing = getattr(module, name)
        assert name in ("__version__", "UNBOUNDED") or thing.__doc__, name
        faults.extend(incomplete(name, thing))
    assert faults == []


def test_every_module_says_what_it_is_for() -> None:
    modules = {each.name for each in pkgutil.walk_packages(satchel.__path__, "satchel.")}
    for name in modules:
        module = __import__(name, fromlist=["__doc__"])
        assert module.__doc__, name
        assert module.__doc__.splitlines()[0].endswith("."), name
    public = {each for each in modules if "._" not in each}
    assert public == {each.__name__ for each in PUBLIC[1:]}
