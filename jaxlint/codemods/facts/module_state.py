"""Whether a call changes state: of a module, a random stream, a cache, statistics, or a Python object.

All codemods that move calls into a JAX loop, branch or function ask here. Such a change would be lost there, happen
once instead of in each iteration, or fail. Callees are followed through variables, parameters, attributes and
functions of the file; `library_state.py` describes the libraries. An unknown object counts as changing.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from jaxlint.codemods.facts import library_state as library
from jaxlint.codemods.facts.called_things import (
    DEEP,
    Called,
    Frame,
    Thing,
    Things,
    TooFar,
    evaluated,
    methods_of,
)
from jaxlint.codemods.facts.dataflow import FUNCTIONS, root_of
from jaxlint.codemods.facts.parameter_modules import framework_of_class, values_of
from jaxlint.codemods.source.site import Site
from jaxlint.codemods.source.text_edits import shown_source

_CHANGING = frozenset(
    """append extend insert pop popitem remove clear setdefault write send appendleft extendleft popleft add discard
    update sort reverse put fill partition itemset""".split()  # noqa: SIM905
)


@dataclass(frozen=True)
class Change:
    """`what` a call changes, as the end of a sentence; `framework`: whose state, "" for a Python object."""

    what: str
    framework: str = ""
    draws: bool = False  # a random number, which advances its stream

    @property
    def is_seen(self) -> bool:
        """Whether the change is certain, not just possible."""
        return not self.what.startswith("may change")


def changed_by_call(site: Site, call: ast.Call) -> Change | None:
    """The change by one call, apart from its arguments; None if there is none."""
    return _asked(lambda: _Reader(site).call(call, None))


def changed_by_calling(site: Site, function: ast.AST) -> Change | None:
    """The possible change by a call of a function of the file."""
    return _asked(lambda: _Reader(site).body(function, None, {}))


def makes_unstackable(site: Site, node: ast.expr) -> str:
    """The name of a module in `node`, at any depth, that cannot be stacked; "" if there is none."""
    reader = _Reader(site)
    try:
        return reader.unstackable(reader.things(node, None), set())
    except TooFar:
        return ""


def _asked(question: Callable[[], Change | None]) -> Change | None:
    try:
        return question()
    except (TooFar, RecursionError):
        return Change("may change state: its calls are too many to follow")


class _Reader(Called):
    """Answers one question."""

    # ---- changes ----

    def call(self, call: ast.Call, frame: Frame | None) -> Change | None:
        """The change by one call, apart from its arguments."""
        for one in sorted(self.things(call.func, frame), key=lambda one: (one.kind, one.name)):
            if change := self._called(one, call, frame):
                return change
        made = call.func
        if isinstance(made, ast.Call) and (name := self.site.names.qualified(made.func) or ""):
            if library.framework_of(name) == "flax.nnx" and library.is_transformation(name):
                return Change(f"may change state: `{shown_source(made.func)}` splits modules", "flax.nnx")
        return None

    def _called(self, one: Thing, call: ast.Call | None, frame: Frame | None) -> Change | None:
        if one.kind == "function" and one.node is not None:
            return self.body(one.node, one.around or frame, self.bound(one.node, call, frame, None))
        if one.kind == "method" and one.node is not None:
            return self.body(one.node, frame, self.bound(one.node, call, frame, one.of))
        if one.kind == "class" and isinstance(one.node, ast.ClassDef):
            return self._making(call, frame)
        if one.kind == "object" and isinstance(one.node, ast.ClassDef):
            return self._object(one, one.node, "__call__", call, frame)
        if one.kind == "method" and one.of is not None:
            return self._method(one, one.of, call, frame)
        if one.kind == "instance":
            return self._instance(one, call, frame)
        if one.kind == "library":
            return self._library(one.name, call, frame)
        if one.kind == "unknown":
            return self._unknown(one)
        return None

    def _unknown(self, one: Thing) -> Change | None:
        """An unknown function may receive a module; an unknown object may be one."""
        return Change(f"may change state: `{one.name}` is unknown")

    def _object(
        self, one: Thing, holder: ast.ClassDef, name: str, call: ast.Call | None, frame: Frame | None
    ) -> Change | None:
        for kind in self.kinds(holder):
            if methods := methods_of(kind, name):
                changes = (
                    self.body(method, frame, self.bound(method, call, frame, one)) for method in methods
                )
                return next((change for change in changes if change), None)
        for base in sorted(self.bases(holder)):
            if base == "?":
                return Change(f"may change state: the base classes of `{holder.name}` are unknown")
            if library.is_base(base) or not library.is_class(base):
                if name != "__call__" and (what := library.changed_by_method(base, name)):
                    return Change(what, library.framework_of(base), library.draws(base, name))
            elif what := library.changed_by_calling(base, None):
                return Change(what, library.framework_of(base), library.draws(base))
        return None

    def _making(self, call: ast.Call | None, frame: Frame | None) -> Change | None:
        """The change by creating an object: it advances the streams that it draws from, and the counters of its class."""
        if call is None:
            return None
        for part in (*call.args, *(keyword.value for keyword in call.keywords)):
            if any(
                one.kind == "instance" and one.name in library.STREAMS for one in self.things(part, frame)
            ):
                return Change("advances a PRNG stream", "flax.nnx", True)
        return None

    def _method(self, one: Thing, of: Thing, call: ast.Call | None, frame: Frame | None) -> Change | None:
        if of.kind == "object" and isinstance(of.node, ast.ClassDef):
            return self._object(of, of.node, one.name, call, frame)
        if of.kind == "instance":
            if what := library.changed_by_method(of.name, one.name):
                return Change(what, library.framework_of(of.name), library.draws(of.name, one.name))
            return None
        if of.kind == "data" or one.name in library.FUNCTIONAL:
            return None
        return None if one.name in library.ARRAY_METHODS else self._unknown(Thing("unknown", name=of.name))

    def _instance(self, one: Thing, call: ast.Call | None, frame: Frame | None) -> Change | None:
        """A call of an object of a library class, which calls the objects that it was created with."""
        made = one.node if isinstance(one.node, ast.Call) else None
        if what := library.changed_by_calling(one.name, made, call):
            return Change(what, library.framework_of(one.name), library.draws(one.name))
        if made is not None and library.calls_its_parts(one.name):
            for part in (*made.args, *(keyword.value for keyword in made.keywords)):
                if change := self._handed_on(part, one.around or frame):
                    return change
        return None

    def _library(self, name: str, call: ast.Call | None, frame: Frame | None) -> Change | None:
        if what := library.changed_by_function(name):
            return Change(what, library.framework_of(name), library.draws(name))
        if call is None:
            return None
        if library.is_class(name):
            for part in (*call.args, *(keyword.value for keyword in call.keywords)):
                if any(thing.name in library.STREAMS for thing in self.things(part, frame)):
                    return Change("advances a PRNG stream", "flax.nnx", True)
            return None
        for part in (*call.args, *(keyword.value for keyword in call.keywords)):
            if change := self._handed_on(part, frame):
                return change
        return None

    def _handed_on(self, part: ast.expr, frame: Frame | None) -> Change | None:
        """The change by a function or module that is passed to a library, which will call it."""
        for one in sorted(self.things(part, frame), key=lambda one: (one.kind, one.name)):
            if one.kind in ("function", "method", "object", "instance") and not (
                one.kind == "method" and one.node is None
            ):
                if one.kind == "object" and isinstance(one.node, ast.ClassDef):
                    if not any(methods_of(kind, "__call__") for kind in self.kinds(one.node)):
                        if not self.bases(one.node) - {"?"}:
                            continue
                if change := self._called(one, None, frame):
                    return change
        return None

    def body(self, function: ast.AST, around: Frame | None, given: Mapping[str, Things]) -> Change | None:
        """The change by a call of a function of the file."""
        known = tuple(sorted(given.items(), key=lambda item: item[0]))
        if any(one == function and same == known for one, same in self.calls):
            return None  # it is already being examined
        if len(self.calls) >= DEEP:
            return Change("may change state: its calls are nested too deeply to follow")
        self.calls.append((function, known))
        try:
            frame = Frame(function, {**(around.given if around else {}), **given})
            body = function.body if isinstance(function, FUNCTIONS) else []
            for statement in body if isinstance(body, list) else [body]:
                for part in evaluated(statement):
                    if change := self._part(function, part, frame):
                        return change
            return None
        finally:
            self.calls.pop()

    def _part(self, function: ast.AST, part: ast.AST, frame: Frame) -> Change | None:
        self.count()
        name = getattr(function, "name", "a lambda")
        if isinstance(part, (ast.Global, ast.Nonlocal)):
            return Change(f"changes state: `{name}` binds `{part.names[0]}`, a variable of an outer scope")
        if isinstance(part, (ast.Attribute, ast.Subscript)) and not isinstance(part.ctx, ast.Load):
            if not self._is_fresh(function, part):
                return Change(
                    f"changes state: `{name}` stores into `{shown_source(part)}`", self._home(part, frame)
                )
        if isinstance(part, ast.Call):
            called = part.func
            if isinstance(called, ast.Attribute) and called.attr in _CHANGING:
                changes = self.site.names.qualified(called) is None and not self._is_fresh(function, called)
                alone = isinstance(self.site.names.parents.get(part), ast.Expr)
                if changes and (alone or called.attr not in ("update", "pop", "setdefault", "add")):
                    return Change(
                        f"changes state: `{name}` calls `{shown_source(called)}`", self._home(called, frame)
                    )
            return self.call(part, frame)
        return None

    def _home(self, part: ast.AST, frame: Frame) -> str:
        root = root_of(part)
        for one in self.things(root, frame):
            if one.kind == "object" and isinstance(one.node, ast.ClassDef):
                return framework_of_class(self.site, one.node)
        return ""

    def _is_fresh(self, function: ast.AST, part: ast.AST) -> bool:
        """Whether the changed object was created in the function, so that nothing else holds it yet."""
        root = root_of(part)
        if not isinstance(root, ast.Name):
            return isinstance(root, (ast.Call, ast.List, ast.Dict)) and not isinstance(root, ast.Call)
        scope = self.site.names.scope_at(root).resolve(root.id)
        if scope is None or scope.node is not function:
            return False
        values = values_of(self.site, root)
        return bool(values) and all(self._is_made(value) for value in values)

    def _is_made(self, value: ast.AST) -> bool:
        if isinstance(
            value, (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.BinOp)
        ):
            return True
        if isinstance(value, ast.Call):
            return all(
                one.kind == "class" or (one.kind == "library" and library.makes(one.name))
                for one in self.things(value.func, None)
            )
        return False

    # ---- stacking ----

    def unstackable(self, things: Things, seen: set[ast.AST]) -> str:
        """The name of a module in `things`, at any depth, that is not a pytree, or is an equinox module with leaves
        besides arrays."""
        for one in things:
            last = one.name.rpartition(".")[2]
            framework = library.framework_of(one.name) if one.kind == "instance" else ""
            if framework in ("haiku", "flax.linen") or (
                framework == "equinox" and last not in library.STACKABLE
            ):
                return last
            if one.kind != "object" or not isinstance(one.node, ast.ClassDef) or one.node in seen:
                continue
            if framework_of_class(self.site, one.node) in ("haiku", "flax.linen"):
                return one.node.name
            if "equinox.Module" in self.bases(one.node):
                seen.add(one.node)
                for declared in (part for kind in self.kinds(one.node) for part in kind.body):
                    if isinstance(declared, ast.AnnAssign):
                        if found := self.unstackable(self.declared(declared.annotation), seen):
                            return found
        return ""
