"""The asynchronous classes of satchel.aio, from the blocking ones: the texts of the modules there.

Each public method becomes one that is awaited, with the same parameters and types. The modules are read, and
not imported, which would need the library.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Dict, List, Optional, Set, Tuple

HERE = Path(__file__).resolve().parent

#: The classes of each module, with their bases there.
MODULES = {
    "assets": [("satchel.assets", "Assets", "Twin")],
    "catalogue": [
        ("satchel.catalogue", "Catalogue", "Twin"),
        ("satchel.catalogue.regions", "Regions", "Twin"),
        ("satchel.catalogue.regions", "Region", "Twin"),
        ("satchel.session", "Session", "ClosingTwin"),
    ],
    "photos": [
        ("satchel.photos", "PhotoCatalogue", "ClosingTwin"),
        ("satchel.photos", "PhotoBackup", "Twin"),
    ],
    "records": [("satchel.records", "Records", "ClosingTwin")],
    "state": [
        ("satchel.state", "State", "Twin"),
        ("satchel.state", "StateList", "Twin"),
        ("satchel.state", "StateMembers", "Twin"),
        ("satchel.state", "Scores", "Twin"),
    ],
    "store": [
        ("satchel.sync._continuous", "ContinuousSync", "ClosingTwin"),
        ("satchel.store", "Store", "StoreTwin"),
    ],
    "stories": [("satchel.stories", "StoryLibrary", "ClosingTwin")],
}
#: Where each twin is defined.
TWINS = {name: f"satchel.aio._{module}" for module, kinds in MODULES.items() for _, name, _ in kinds}
TWINS.update(Observer="satchel.aio._streams", Watch="satchel.aio._streams")
GENERIC = {"Records", "Watch"}

#: Methods that only read, by class.
READS = {
    "Assets": "get info read open list iterate",
    "Catalogue": "sections load plan has_cached locate search entity contexts entities active_location",
    "Regions": "list get",
    "Region": "summary state estimate export",
    "Session": "state",
    "ContinuousSync": "status",
    "PhotoCatalogue": "export_shard get count query status modified_shards changes conflicts",
    "Records": "get text record get_many list ids count page explain counts distinct sum average min max "
    "search near conflicts warnings",
    "State": "get keys",
    "StateList": "items values",
    "StateMembers": "has values",
    "Scores": "value all",
    "Store": "collections info statistics check",
    "StoryLibrary": "story segment select search filter sorted_by tags cultures age_ranges progress loading",
}
#: Methods that may take long, by class.
WORK = {
    "Assets": "fetch verify variant scaled",
    "Catalogue": "refresh load_from",
    "PhotoCatalogue": "scan sync verify import_directory export_directory thumbnail",
    "PhotoBackup": "run restore refresh",
    "Region": "download update",
    "Store": "sync rekey detach sign_out delete_account backup backup_rotate compact",
}
#: Methods that the bases define.
BY_HAND = {"close", "closed", "read_only", "batch", "timeout"}
#: Properties that need no call; those in TWINS give a twin.
PROPERTIES = {
    "path": "str",
    "name": "str",
    "directory": "str",
    "catalogue": "Catalogue",
    "state": "State",
    "assets": "Assets",
    "backup": "PhotoBackup",
    "regions": "Regions",
}
#: Properties of these names that need a call.
CALLED = {("Region", "state")}


class Source:
    """A module of the package: its syntax tree, and where its names are from."""

    known: ClassVar[Dict[str, Source]] = {}

    def __init__(self, name: str) -> None:
        path = HERE / name.replace(".", "/")
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        self.name = name
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        self.imports: Dict[str, str] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for each in node.names:
                    self.imports[each.asname or each.name] = node.module

    @classmethod
    def of(cls, name: str) -> Source:
        """The source of a module, read once."""
        if name not in cls.known:
            cls.known[name] = cls(name)
        return cls.known[name]

    def classes(self, kind: str) -> Iterator[Tuple[Source, ast.ClassDef]]:
        """A class of the package and its bases there, the bases first."""
        for node in self.tree.body:
            if isinstance(node, ast.ClassDef) and node.name == kind:
                for base in reversed(node.bases):
                    yield from self.classes(ast.unparse(base).partition("[")[0])
                yield self, node
                return
        if self.imports.get(kind, "").startswith("satchel."):
            yield from Source.of(self.imports[kind]).classes(kind)


class Method:
    """A public method or property of a blocking class."""

    def __init__(self, source: Source, kind: str, nodes: List[ast.FunctionDef]) -> None:
        self.source = source
        self.kind = kind
        self.nodes = nodes
        self.name = nodes[0].name
        self.is_property = "property" in map(ast.unparse, nodes[0].decorator_list)

    def imports(self) -> Iterator[Tuple[str, str]]:
        """The names in the signatures, with their modules."""
        for node in self.nodes:
            every = [*node.args.args, *node.args.kwonlyargs, node.args.kwarg]
            hints = [each.annotation for each in every if each is not None and each.annotation is not None]
            for hint in [*hints, node.returns]:
                for each in ast.walk(hint) if hint is not None else ():
                    if isinstance(each, ast.Name) and each.id in self.source.imports:
                        yield self.source.imports[each.id], each.id
                    elif isinstance(each, ast.Name) and not hasattr(builtins, each.id):
                        yield self.source.name, each.id

    def defaults(self) -> Iterator[Tuple[str, str]]:
        """The names in the defaults of the parameters, with their modules."""
        for node in self.nodes:
            for default in [*node.args.defaults, *node.args.kw_defaults]:
                if isinstance(default, ast.Name):
                    yield self.source.name, default.id

    def written(self) -> Iterator[str]:
        """The twin's lines."""
        if self.is_property and self.name in PROPERTIES and (self.kind, self.name) not in CALLED:
            yield from self._property()
            return
        for node in self.nodes[:-1]:
            yield "    @overload"
            yield from self._signature(node, " ...")
            yield ""
        yield from self._signature(self.nodes[-1], "")
        yield f'        """As :meth:`satchel.{self.kind}.{self.name}`{self._note}."""'
        yield from self._body(self.nodes[-1])

    def _property(self) -> Iterator[str]:
        result = PROPERTIES[self.name]
        yield from ("    @property", f"    def {self.name}(self) -> {result}:")
        yield f'        """As :attr:`satchel.{self.kind}.{self.name}`."""'
        if result in TWINS:
            yield f"        return {result}(self._calls, self._blocking.{self.name})"
        else:
            yield f"        return self._blocking.{self.name}"

    @property
    def _note(self) -> str:
        """Describes the difference from the blocking method: where its callback runs."""
        arguments = self.nodes[-1].args
        names = {each.arg for each in arguments.args + arguments.kwonlyargs} & {"progress", "callback"}
        return "".join(f"; ``{name}`` is called on the event loop" for name in sorted(names))

    @property
    def _is_iterator(self) -> bool:
        returns = self.nodes[-1].returns
        return returns is not None and ast.unparse(returns).startswith("Iterator[")

    def _signature(self, node: ast.FunctionDef, end: str) -> Iterator[str]:
        arguments = node.args
        parts = ["self"]
        first_default = len(arguments.args) - len(arguments.defaults)
        for at, each in enumerate(arguments.args[1:], 1):
            default = arguments.defaults[at - first_default] if at >= first_default else None
            parts.append(_parameter(each, default))
        if arguments.kwonlyargs:
            parts.append("*")
            parts += map(_parameter, arguments.kwonlyargs, arguments.kw_defaults)
        if arguments.kwarg is not None:
            parts.append(f"**{_parameter(arguments.kwarg, None)}")
        result = ast.unparse(node.returns) if node.returns is not None else "None"
        word = "async def"
        if self._is_iterator or result.startswith("Watch["):
            word, result = "def", result.replace("Iterator[", "AsyncIterator[", 1)
        line = f"    {word} {self.name}({', '.join(parts)}) -> {result}:{end}"
        if len(line) <= 110:
            yield line
            return
        yield f"    {word} {self.name}("
        for part in parts:
            yield f"        {part},"
        yield f"    ) -> {result}:{end}"

    def _body(self, node: ast.FunctionDef) -> Iterator[str]:
        passed = [self._passed(each.arg) for each in node.args.args[1:]]
        passed += [f"{each.arg}={self._passed(each.arg)}" for each in node.args.kwonlyargs]
        if node.args.kwarg is not None:
            passed.append(f"**{node.args.kwarg.arg}")
        method = f"self._blocking.{self.name}"
        if len(self.nodes) > 1:
            # The overloads are those of the signature.
            yield f"        method: Any = {method}"
            method = "method"
        call = method if self.is_property else f"{method}({', '.join(passed)})"
        returns = node.returns
        result = ast.unparse(returns) if returns is not None else "None"
        if self._is_iterator:
            yield from _wrapped("        return self._calls.each(", f"lambda: {call}", ")")
            return
        twin = result.partition("[")[0]
        if twin == "Watch":
            yield from _wrapped("        return Watch(self._calls, ", f"lambda: {call}", ")")
            return
        begin, end = f"await self._calls.{self._way}(", ")"
        if twin in TWINS:
            begin, end = f"{twin}(self._calls, {begin}", "))"
        if result != "None":
            begin = f"return {begin}"
        yield from _wrapped(f"        {begin}", f"lambda: {call}", end)

    @property
    def _way(self) -> str:
        """The method of Calls that makes the call."""
        for way, table in (("read", READS), ("work", WORK)):
            if self.name in table.get(self.kind, "").split():
                return way
        return "write"

    @staticmethod
    def _passed(name: str) -> str:
        wrapped = {"progress": "self._calls.on_loop(progress)", "callback": "self._calls.later(callback)"}
        return wrapped.get(name, name)


def _parameter(parameter: ast.arg, default: Optional[ast.expr]) -> str:
    hint = f": {ast.unparse(parameter.annotation)}" if parameter.annotation is not None else ""
    if default is None:
        return f"{parameter.arg}{hint}"
    return f"{parameter.arg}{hint} = {ast.unparse(default)}".replace("'", '"')


def _wrapped(begin: str, call: str, end: str) -> Iterator[str]:
    """A call in one line, or in as many as it has arguments."""
    if len(begin + call + end) <= 110:
        yield begin + call + end
        return
    indent = " " * 12
    yield begin
    if len(indent + call) <= 109:
        yield f"{indent}{call}"
    else:
        name, _, rest = call.partition("(")
        yield f"{indent}{name}("
        for each in rest[:-1].split(", "):
            yield f"{indent}    {each},"
        yield f"{indent})"
    yield f"        {end}"


def methods_of(module: str, kind: str) -> List[Method]:
    """The public methods of a class, those of its bases in the package first."""
    found: Dict[str, Method] = {}
    for source, base in Source.of(module).classes(kind):
        methods: Dict[str, List[ast.FunctionDef]] = {}
        for node in base.body:
            if (
                isinstance(node, ast.FunctionDef)
                and not node.name.startswith("_")
                and node.name not in BY_HAND
            ):
                methods.setdefault(node.name, []).append(node)
        found.update({name: Method(source, kind, nodes) for name, nodes in methods.items()})
    return list(found.values())


def _import_order(name: str) -> Tuple[int, str]:
    """Constants first, then classes, then the others."""
    return (0 if name.isupper() else 1 if name.lstrip("_")[0].isupper() else 2), name


def imports(names: Set[Tuple[str, str]], indent: str = "") -> Iterator[str]:
    """The lines that import names from their modules, sorted as the linter wants it."""
    modules: Dict[str, Set[str]] = {}
    for module, name in names:
        modules.setdefault(module, set()).add(name)
    ordered = sorted(modules, key=lambda name: (name.startswith("satchel"), name))
    previous = None
    for module in ordered:
        is_own = module.startswith("satchel")
        if previous is not None and previous != is_own:
            yield ""
        previous = is_own
        renamed = sorted(name for name in modules[module] if " as " in name)
        every = sorted(modules[module] - set(renamed), key=_import_order)
        line = f"{indent}from {module} import {', '.join(every)}"
        if len(line) <= 110 and every:
            yield line
        elif every:
            yield f"{indent}from {module} import ("
            for each in every:
                yield f"{indent}    {each},"
            yield f"{indent})"
        for each in renamed:
            yield f"{indent}from {module} import {each}"


#: Names, each with the module that defines it.
Names = Set[Tuple[str, str]]


def _imported(module: str, every: Dict[str, List[Method]]) -> Tuple[Names, Names]:
    """The names that a module needs when it runs, and those that only its annotations need."""
    kinds, methods = MODULES[module], [method for found in every.values() for method in found]
    hints = {found for method in methods for found in method.imports()}
    twins = {name for _, name in hints if name in TWINS}
    own = (method for method in methods if method.is_property and (method.kind, method.name) not in CALLED)
    twins |= {PROPERTIES.get(method.name, "") for method in own} & set(TWINS)
    runtime = {("typing", "TYPE_CHECKING"), ("satchel.aio._calls", "twin_of")}
    runtime |= {(f"satchel.aio._{'opening' if base == 'StoreTwin' else 'calls'}", base) for *_, base in kinds}
    runtime |= {(TWINS[name], name) for name in twins - set(every)}
    runtime |= {(source, f"{name} as Blocking{name}") for source, name, _ in kinds}
    runtime |= {found for method in methods for found in method.defaults()}
    if _has_documents(module):
        runtime.add(("typing", "TypeVar"))
    if GENERIC & set(every):
        runtime.add(("typing", "Generic"))
    if any(len(method.nodes) > 1 for method in methods):
        runtime |= {("typing", "overload"), ("typing", "Any")}
    hints = {each for each in hints if each[1] not in TWINS and each[1] != "_Document"}
    if ("collections.abc", "Iterator") in hints or ("typing", "Iterator") in hints:
        hints -= {("collections.abc", "Iterator"), ("typing", "Iterator")}
        hints.add(("collections.abc", "AsyncIterator"))
    return runtime, hints - runtime


def _has_documents(module: str) -> bool:
    return module in ("records", "store")


def written(module: str) -> str:
    """The text of a module."""
    kinds = MODULES[module]
    every = {name: methods_of(source, name) for source, name, _ in kinds}
    runtime, hints = _imported(module, every)
    lines = [
        f'"""The asynchronous twins of {", ".join(every)}; written by generate.py."""',
        "",
        "from __future__ import annotations",
        "",
        *imports(runtime),
        "",
        *(["if TYPE_CHECKING:", *imports(hints, "    "), ""] if hints else []),
        "__all__ = [" + ", ".join(f'"{name}"' for name in sorted(every)) + "]",
        "",
    ]
    if _has_documents(module):
        lines += ['_Document = TypeVar("_Document")', ""]
    for _, name, base in kinds:
        lines += _class(name, base, every[name])
    return "\n".join(lines).rstrip() + "\n"


def _class(name: str, base: str, methods: List[Method]) -> Iterator[str]:
    is_generic = name in GENERIC
    yield from ("", f"@twin_of(Blocking{name})")
    yield f"class {name}({base}, Generic[_Document]):" if is_generic else f"class {name}({base}):"
    yield f'    """The asynchronous twin of :class:`satchel.{name}`: its methods are awaited."""'
    yield from ("", "    __slots__ = ()", "")
    yield f"    _blocking: Blocking{name}{'[_Document]' if is_generic else ''}"
    yield ""
    for method in methods:
        yield from method.written()
        yield ""
    if is_generic and any(
        method.name == "iterate" and not method.nodes[-1].args.kwonlyargs for method in methods
    ):
        yield "    def __aiter__(self) -> AsyncIterator[Record[_Document]]:"
        yield from ("        return self.iterate()", "")
