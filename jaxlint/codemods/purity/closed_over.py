"""Outside variables that a function reads, and whether the program may change them: then they are not constants.

A compiled function keeps the values that it read at trace time.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Set
from pathlib import Path

from jaxlint.codemods.facts.dataflow import FUNCTIONS
from jaxlint.codemods.purity import known_functions
from jaxlint.codemods.purity.callbacks import called_back, first_parameter, held_by, maker_of
from jaxlint.codemods.purity.function_objects import redefined
from jaxlint.codemods.purity.jax_settings import settings_changed
from jaxlint.codemods.purity.mutation import Mutations, is_immutable
from jaxlint.codemods.purity.patched_libraries import replaced
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File, FunctionNode, bodies, function_around, own_parts
from jaxlint.codemods.purity.values import (
    Box,
    Cls,
    Ext,
    Fn,
    Inst,
    Made,
    Place,
    Unknown,
    Value,
    Values,
    Whole,
    Wrapped,
)
from jaxlint.codemods.purity.writes_by_name import may_mention, name_set_by, target_of, writes_by_name
from jaxlint.codemods.source.name_scopes import Scope
from jaxlint.codemods.source.text_edits import shown_source


class ClosedOver:
    """The variables of modules, classes and enclosing functions that the functions of a region read."""

    def __init__(self, possible: PossibleValues) -> None:
        self.possible, self.program = possible, possible.program
        self.mutations = Mutations(possible)
        self._open: set[object] = set()

    def changing(self, functions: dict[ast.AST, File], root: ast.AST) -> Iterator[str]:
        """Variables that the functions read and that may change after the first call, with the reason, in words."""
        yield from settings_changed(self.possible)
        yield from redefined(self.possible, functions)
        seen: set[tuple[int, str]] = set()
        for function, file in functions.items():
            assert isinstance(function, FUNCTIONS)
            for node in _all_parts(function):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                    scope = file.names.scope_at(node).resolve(node.id)
                    if scope is None or (id(scope), node.id) in seen:
                        continue
                    seen.add((id(scope), node.id))
                    if scope.node in file.names.ancestors(root) and scope.node is not file.tree:
                        yield from self._set_meanwhile(node.id, scope, root, file)
                        continue
                    if self._is_inside(scope, root, file):
                        continue
                    yield from self._name(node, scope, file)
                elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                    yield from self._attribute(node, file)
                elif isinstance(node, ast.Call):
                    yield from self._callbacks(node, file)

    def _set_meanwhile(self, name: str, scope: Scope, root: ast.AST, file: File) -> Iterator[str]:
        """Whether the function around the region sets a variable again that a nested function reads: in a loop, or in another function."""
        above = set(file.names.ancestors(root))
        for binding in scope.bindings.get(name, ()):
            place = self.program.place(file, binding.node)
            if isinstance(binding.node, ast.arg):
                continue
            if file.names.scope_at(binding.node) is not scope and isinstance(binding.node, ast.Name):
                yield f"reads `{name}`, which is set at {place}"
                return
            around = file.names.ancestors_below(binding.node, scope.node)
            if any(
                isinstance(one, ast.For | ast.While | ast.AsyncFor) and one not in above for one in around
            ):
                yield f"reads `{name}`, which is set in a loop at {place}"
                return

    def _callbacks(self, node: ast.Call, file: File) -> Iterator[str]:
        """The reads of a library object through the program's functions and objects that it calls."""
        for callee in self.possible.of(node.func, file):
            made = maker_of(callee)
            for value in called_back(made) if made is not None else ():
                for held in held_by(value):
                    yield from self._object(held)
                if isinstance(value, Fn):
                    yield from self._around(value)

    def _around(self, value: Fn) -> Iterator[str]:
        """The variables that a function closes over, which outlive the call that created it."""
        file = value.file
        for node in _all_parts(value.node):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                scope = file.names.scope_at(node).resolve(node.id)
                if scope is not None and scope.node in file.names.ancestors(value.node):
                    yield from self._name(node, scope, file)

    def of_object(
        self, cls: Cls, functions: Container[ast.AST], given: Set[str] = frozenset()
    ) -> Iterator[str]:
        """The same for those that these methods read, of an object of a class that is static in a compiled function. `given`:
        attributes that each call hands in."""
        for name in sorted(set(self._read_of(cls, functions)) - given):
            if self.possible.classes.member(cls, name) is not None and self._class_set_by_name(name):
                yield f"calls a `{cls.node.name}`, whose `{name}` may be set by name"
            constructors = [
                function_around(store, other)
                for other, store in self.program.stores.get(name, ())
                if self._constructs(store, other)
            ]
            if len(constructors) > len(set(constructors)):
                yield f"calls a `{cls.node.name}`, whose constructor sets `{name}` twice"
        yield from self._object(Inst(cls), functions, given)

    def _read_of(self, cls: Cls, functions: Container[ast.AST]) -> Iterator[str]:
        for one in self.possible.classes.heirs(cls):
            for node in ast.walk(one.node):
                if isinstance(node, ast.Attribute) and _method_reading(node, one.file) in functions:
                    yield node.attr

    def _object(
        self, value: Inst, functions: Container[ast.AST] | None = None, given: Set[str] = frozenset()
    ) -> Iterator[str]:
        """The attributes that an object's methods read and that the program sets outside its constructor."""
        classes = self.possible.classes.heirs(value.cls)
        for cls in classes:
            for node in ast.walk(cls.node):
                if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
                    continue
                if node.attr in given:
                    continue
                method = _method_reading(node, cls.file)
                if method is None or (functions is not None and method not in functions):
                    continue
                if self.mutations.may_change_in_place(node, cls.file):
                    yield f"calls a `{cls.node.name}`, whose `{node.attr}` may change"
                for other, store in self.program.stores.get(node.attr, ()):
                    if not self._constructs(store, other) and self._may_be(store.value, other, classes):
                        place = self.program.place(other, store)
                        yield f"calls a `{cls.node.name}`, whose `{node.attr}` is set at {place}"

    def _constructs(self, store: ast.Attribute, file: File) -> bool:
        """Whether an attribute is set in the constructor of its object."""
        method = function_around(store, file)
        return (
            getattr(method, "name", "") in ("__init__", "__post_init__")
            and isinstance(store.value, ast.Name)
            and store.value.id == first_parameter(method)
        )

    def _may_be(self, node: ast.expr, file: File, classes: list[Cls]) -> bool:
        """Whether an expression may be an object of one of the classes."""
        values = self.possible.of(node, file)
        return any(
            isinstance(value, Unknown) or (isinstance(value, Inst) and value.cls in classes)
            for value in values
        )

    def changing_in(self, loop: ast.AST, functions: dict[ast.AST, File], root: ast.AST) -> Iterator[str]:
        """Variables that the functions read and that visibly change while a loop runs, with the reason, in words."""
        inside = set(ast.walk(loop))
        for function, file in functions.items():
            for node in _all_parts(function):  # type: ignore[arg-type]
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                    yield from self._attribute(node, file)
                if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
                    continue
                scope = file.names.scope_at(node).resolve(node.id)
                if scope is None or self._is_inside(scope, root, file):
                    continue
                before = all(
                    one.node not in inside and function_around(one.node, file) is _own_function(scope)
                    for one in scope.bindings.get(node.id, ())
                )
                why = None if before else self._rebound(node.id, scope, file)
                why = why or self._set_from_elsewhere(node.id, scope, file)
                held = self.possible.of_place(Place(file, scope, node.id))
                if why is None and any(isinstance(one, Box | Inst) and not is_immutable(one) for one in held):
                    why = self.mutations.uses_change(node.id, scope, file, 0)
                if why is not None:
                    yield f"reads `{node.id}`, which {why}"

    def _is_inside(self, scope: Scope, root: ast.AST, file: File) -> bool:
        """Whether a variable belongs to a call in the region: of a function of the region, or of one called in it."""
        if scope.node is file.tree:
            return False
        if scope.node is root or root in file.names.ancestors(scope.node):
            return True
        return isinstance(
            scope.node, (*FUNCTIONS, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
        ) and not self._encloses(scope.node, file)

    def _encloses(self, node: ast.AST, file: File) -> bool:
        """Whether nested functions outlive the call of a function: their reads of it are closures."""
        return any(
            isinstance(part, FUNCTIONS) for part in ast.walk(node) if part is not node
        ) and self._escapes(node, file)

    def _escapes(self, node: ast.AST, file: File) -> bool:
        inner = {
            part.name
            for part in ast.walk(node)
            if isinstance(part, (ast.FunctionDef, ast.ClassDef)) and part is not node
        }
        for part in own_parts(node):
            if isinstance(part, ast.Return) and part.value is not None:
                for value in ast.walk(part.value):
                    if isinstance(value, ast.Lambda) or (isinstance(value, ast.Name) and value.id in inner):
                        above = file.names.parents.get(value)
                        if not (isinstance(above, ast.Call) and self._calls_at_once(above, value, file)):
                            return True
        return False

    def _calls_at_once(self, call: ast.Call, function: ast.AST, file: File) -> bool:
        """Whether a call calls a function at once: `jax.tree.map(lambda g: ..., grads)`."""
        return call.func is function or self.possible.name_of(call.func, file) in known_functions.CALLERS

    # Names

    def _name(self, node: ast.Name, scope: Scope, file: File) -> Iterator[str]:
        bindings = scope.bindings[node.id]
        if all(binding.statement is not None for binding in bindings):
            values = self.possible.of_import(bindings[0], file)
            if all(isinstance(value, (Ext, Whole)) for value in values) and values:
                return  # a module's attributes are examined where they are read
            taken = self.program.imported(bindings[0], file)
            if isinstance(taken, tuple):
                other, name = taken
                if name in other.names.module.bindings:
                    yield from self._variable(name, other.names.module, other)
                    return
            yield f"reads `{node.id}` at {self.program.place(file, node)}, which is unknown"
            return
        yield from self._variable(node.id, scope, file)

    def _attribute(self, node: ast.Attribute, file: File) -> Iterator[str]:
        name = self.possible.name_of(node, file)
        if name in ("os.environ", "sys.argv", "os.getcwd") or name.startswith("os.environ"):
            yield f"reads `{shown_source(node)}` at {self.program.place(file, node)}, which may change"
            return
        if name:
            if name.startswith("jax.config"):
                yield f"reads `{shown_source(node)}` at {self.program.place(file, node)}, which may change"
            elif (why := replaced(name, self.possible)) is not None:
                yield f"reads `{shown_source(node)}`, which {why}"
            return
        for value in self.possible.of(node.value, file):
            if isinstance(value, Whole):
                if node.attr in value.file.names.module.bindings:
                    yield from self._variable(node.attr, value.file.names.module, value.file)
                elif not (held := self.possible.of(node, file)) or any(
                    isinstance(one, Unknown) for one in held
                ):
                    yield f"reads `{shown_source(node)}`, which {Path(value.file.display).name} never binds by name"
            elif isinstance(value, Cls):
                yield from self._class_attribute(value, node)
            elif isinstance(value, Inst):
                yield from self._default_of_class(value, node)
            elif isinstance(value, Fn | Wrapped):
                yield from self._set_anywhere(node)

    def _set_anywhere(self, node: ast.Attribute) -> Iterator[str]:
        for other, store in self.program.stores.get(node.attr, ())[:1]:
            yield f"reads `{shown_source(node)}`, which is set at {self.program.place(other, store)}"

    def _class_attribute(self, value: Cls, node: ast.Attribute) -> Iterator[str]:
        member = self.possible.classes.member(value, node.attr)
        if member is None or isinstance(member[1].node, FUNCTIONS):
            return
        if node.attr in self.program.stores:
            yield from self._set_anywhere(node)
        elif (why := self._class_set_by_name(node.attr)) is not None:
            yield f"reads `{shown_source(node)}`, which {why}"

    def _class_set_by_name(self, name: str) -> str | None:
        """`setattr(C, name, ...)` and the like, for any class: it may set a subclass or a base instead."""
        for other in self.program.files:
            for call, kind in self._dynamic_writes_of(other):
                if kind == "text" and name_set_by(call) in (name, ""):
                    return f"may be set at {self.program.place(other, call)} (`{shown_source(call)}`)"
                if kind == "module" and may_mention(call, name):
                    if any(
                        isinstance(one, Cls | Unknown) for one in self.possible.of(target_of(call), other)
                    ):
                        return f"may be set at {self.program.place(other, call)} (`{shown_source(call)}`)"
        return None

    def _dynamic_writes_of(self, file: File) -> list[tuple[ast.Call | ast.Attribute, str]]:
        key = ("by name", file.display)
        if key not in self.program.memo:
            self.program.memo[key] = writes_by_name(file)
        found: list[tuple[ast.Call | ast.Attribute, str]] = self.program.memo[key]
        return found

    def _default_of_class(self, value: Inst, node: ast.Attribute) -> Iterator[str]:
        """`self.rate`, if the class has it and the program sets it on the class."""
        for other, store in self.program.stores.get(node.attr, ()):
            if _is_class(store.value) or any(
                isinstance(holder, Cls) for holder in self.possible.of(store.value, other)
            ):
                yield f"reads `{shown_source(node)}`, which is set at {self.program.place(other, store)}"
                return
        if self.possible.classes.member(value.cls, node.attr) is not None:
            if (why := self._class_set_by_name(node.attr)) is not None:
                yield f"reads `{shown_source(node)}`, which {why}"

    def _variable(self, name: str, scope: Scope, file: File) -> Iterator[str]:
        """An outside variable: whether it is bound once and its value is not modified."""
        if (why := self.variable_changes(name, scope, file)) is not None:
            yield f"reads `{name}`, which {why}"

    def variable_changes(self, name: str, scope: Scope, file: File) -> str | None:
        """What changes a variable after its binding, in words; None if nothing does."""
        key = (id(scope), name)
        if key in self._open:
            return None
        self._open.add(key)
        try:
            return (
                self._rebound(name, scope, file)
                or self._set_from_elsewhere(name, scope, file)
                or self._content(name, scope, file)
            )
        finally:
            self._open.discard(key)

    def _rebound(self, name: str, scope: Scope, file: File) -> str | None:
        bindings = scope.bindings.get(name, [])
        for binding in bindings:
            if file.names.scope_at(binding.node) is not scope and not isinstance(
                binding.node, (*FUNCTIONS, ast.ClassDef, ast.arg, ast.Import, ast.ImportFrom)
            ):
                return f"is set at {self.program.place(file, binding.node)}"
            if function_around(binding.node, file) is not _own_function(scope):
                if not isinstance(binding.node, ast.arg):
                    return f"is set at {self.program.place(file, binding.node)}"
            for above in file.names.ancestors(binding.node):
                if above is scope.node:
                    break
                if isinstance(above, (ast.For, ast.While, ast.AsyncFor)):
                    return f"is set in a loop at {self.program.place(file, binding.node)}"
                if isinstance(above, ast.AugAssign):
                    return f"is changed at {self.program.place(file, binding.node)}"
        if len(bindings) > 1 and not _alternatives([binding.node for binding in bindings], file):
            return f"is set again at {self.program.place(file, bindings[-1].node)}"
        return None

    def _set_from_elsewhere(self, name: str, scope: Scope, file: File) -> str | None:
        if scope is not file.names.module:
            return None
        for other, store in self.program.stores.get(name, ()):
            for value in self.possible.of(store.value, other):
                if isinstance(value, Whole) and value.file is file:
                    return f"is set at {self.program.place(other, store)}"
                if isinstance(value, Ext) and value.name == "__main__":
                    return f"is set at {self.program.place(other, store)}"
                if isinstance(value, (Unknown, Made, Ext)) and "module" in ast.unparse(store.value):
                    return f"may be set at {self.program.place(other, store)}"
        return self._written_by_name(name, file)

    def _written_by_name(self, name: str, file: File) -> str | None:
        """`globals()[name] = ...`, `setattr(module, name, ...)`, `exec(...)`, `reload(module)`."""
        for other in self.program.files:
            for call, kind in self._dynamic_writes_of(other):
                place = f"may be set at {self.program.place(other, call)} (`{shown_source(call)}`)"
                if kind == "own" and other is file:
                    return place
                if kind == "text" and name_set_by(call) in (name, ""):
                    return place
                if kind == "module":
                    if any(
                        isinstance(value, Whole) and value.file is file
                        for value in self.possible.of(target_of(call), other)
                    ):
                        return place
                    if any(
                        isinstance(value, Unknown) for value in self.possible.of(target_of(call), other)
                    ) and may_mention(call, name):
                        return place
                if kind == "any":
                    return place
        return None

    # The value of a variable

    def _content(self, name: str, scope: Scope, file: File) -> str | None:
        values = self.possible.of_place(Place(file, scope, name))
        return self._values_change(values, name, scope, file)

    def _values_change(self, values: Values, name: str, scope: Scope, file: File) -> str | None:
        if not values:
            return "is unknown"
        mutable: list[Value] = []
        for value in values:
            if (why := self._opaque(value)) is not None:
                return why
            if not is_immutable(value):
                mutable.append(value)
        if not mutable:
            return None
        return self.mutations.uses_change(name, scope, file, 0)

    def _opaque(self, value: Value) -> str | None:
        if isinstance(value, Unknown):
            return "may hold anything"
        if isinstance(value, Made):
            if value.name.startswith(
                (
                    *known_functions.FROZEN,
                    "argparse.",
                    "collections.",
                    "types.SimpleNamespace",
                    "flax.core.",
                    "ml_collections.",
                    "numpy.",
                )
            ) and not value.name.startswith("numpy.random."):
                return None
            return f"holds the result of `{value.name}`, which may change"
        if isinstance(value, Wrapped):
            return "caches results of earlier calls" if "cache" in value.how else None
        if isinstance(value, Inst):
            bases = self.possible.external_bases(value.cls)
            if any(base.startswith(known_functions.STATE_MODULES) for base in bases):
                return "holds a module with state"
            if "?" in bases:
                return f"holds a `{value.cls.node.name}`, whose base classes are unknown"
        if isinstance(value, Box):
            if value.kind in ("iterator", "generator"):
                return "is an iterator, which a read advances"
            for part in value.parts():
                if (why := self._opaque(part)) is not None:
                    return why
        return None


def _method_reading(node: ast.Attribute, file: File) -> ast.AST | None:
    """The method whose object an attribute belongs to, also where a function in the method reads it; None for other objects."""
    name = node.value
    scope = file.names.scope_at(name).resolve(name.id) if isinstance(name, ast.Name) else None
    if scope is None or not isinstance(scope.node, FUNCTIONS) or not isinstance(name, ast.Name):
        return None
    return scope.node if name.id == first_parameter(scope.node) else None


def _all_parts(function: FunctionNode) -> Iterator[ast.AST]:
    for node in bodies(function):
        yield from ast.walk(node)


def _own_function(scope: Scope) -> ast.AST | None:
    current: Scope | None = scope
    while current is not None and not isinstance(current.node, FUNCTIONS):
        current = current.parent
    return current.node if current is not None else None


def _alternatives(nodes: list[ast.AST], file: File) -> bool:
    """Whether only one of several statements runs: they are in different branches of one test."""
    paths: list[list[tuple[ast.AST, str]]] = []
    for node in nodes:
        path: list[tuple[ast.AST, str]] = []
        child = node
        for above in file.names.ancestors(node):
            if isinstance(above, (ast.If, ast.Try)):
                branch = next(
                    (
                        name
                        for name in ("body", "orelse", "handlers", "finalbody")
                        if child in getattr(above, name, [])
                    ),
                    "",
                )
                path.append((above, branch))
            child = above
        paths.append(path)
    for index, one in enumerate(paths):
        for other in paths[index + 1 :]:
            if not any(
                a is b and first != second and "finalbody" not in (first, second)
                for a, first in one
                for b, second in other
            ):
                return False
    return True


def _is_class(node: ast.expr) -> bool:
    """Whether an expression is the class of an object: `type(self)`, `self.__class__`, the `cls` of a class method."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "type"
    return (isinstance(node, ast.Attribute) and node.attr == "__class__") or (
        isinstance(node, ast.Name) and node.id == "cls"
    )
