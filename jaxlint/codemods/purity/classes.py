"""The classes of a program: members, bases, subclasses, and attributes of their objects."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from jaxlint.codemods.purity import known_functions
from jaxlint.codemods.purity.attribute_holders import AttributeHolders
from jaxlint.codemods.purity.expressions import Expressions
from jaxlint.codemods.purity.filled_attributes import FilledAttributes
from jaxlint.codemods.purity.fixpoint import Fixpoint
from jaxlint.codemods.purity.program import File
from jaxlint.codemods.purity.value_queries import ValueQueries
from jaxlint.codemods.purity.values import (
    FILLED,
    NOTHING,
    Box,
    Cls,
    Ext,
    Fn,
    Inst,
    Method,
    Place,
    Value,
    Values,
    holding,
    one,
    unknown,
)
from jaxlint.codemods.source.name_scopes import Binding
from jaxlint.codemods.source.text_edits import shown_source

TRAIN_STATE = "flax.training.train_state.TrainState"


class Classes:
    """Questions about the classes of one program. `memo` keeps facts for later questions."""

    def __init__(
        self, possible: ValueQueries, expressions: Expressions, answers: Fixpoint, memo: dict[object, Any]
    ) -> None:
        self.possible, self.program = possible, possible.program
        self.expressions, self.answers = expressions, answers
        self._heirs: dict[Cls, list[Cls]] = memo.setdefault("heirs", {})
        self._lines: dict[Cls, list[Cls]] = memo.setdefault("lines of classes", {})
        self.holders = AttributeHolders(possible, self)
        self._direct: dict[Cls, list[Cls]] = memo.setdefault("derived classes", {})

    def class_around(self, function: ast.AST, file: File) -> Cls | None:
        """The class that a function is a method of."""
        above = file.names.parents.get(function)
        return Cls(above, file) if isinstance(above, ast.ClassDef) else None

    def decorators(self, cls: Cls) -> list[str]:
        """The canonical names of a class's decorators, called or not; "" for a decorator of the program."""
        return [
            self.possible.name_of(one.func if isinstance(one, ast.Call) else one, cls.file)
            for one in cls.node.decorator_list
        ]

    def member(self, cls: Cls, name: str) -> tuple[Place, Binding] | None:
        """The member of a class, or of one of its program bases, with this name."""
        for one_ in self.line(cls):
            scope = one_.file.names.scope_inside(one_.node)
            if scope is not None and name in scope.bindings:
                return Place(one_.file, scope, name), scope.bindings[name][-1]
        return None

    def bases(self, cls: Cls) -> list[Value]:
        """The bases of a class."""
        found: list[Value] = []
        for base in cls.node.bases:
            if isinstance(base, ast.Subscript):
                base = base.value
            found += list(self.possible.of(base, cls.file))
        return found

    def line(self, cls: Cls) -> list[Cls]:
        """A class and all classes of the program that it derives from, in the order in which members are looked up."""
        if (whole := self._lines.get(cls)) is not None:
            return whole
        guesses = self.answers.guesses
        found = _walk(cls, lambda one_: [base for base in self.bases(one_) if isinstance(base, Cls)])
        if self.answers.guesses == guesses:
            self._lines[cls] = found
        return found

    def external_bases(self, cls: Cls) -> set[str]:
        """The names of the external classes that a class derives from; "?" for an unknown one."""
        return {
            base.name if isinstance(base, Ext) else "?"
            for one_ in self.line(cls)
            for base in self.bases(one_)
            if not isinstance(base, Cls)
        }

    def heirs(self, cls: Cls) -> list[Cls]:
        """The program's subclasses of a class, itself included."""
        if (whole := self._heirs.get(cls)) is not None:
            return whole
        guesses = self.answers.guesses
        derived = self._derived()
        found = _walk(cls, lambda one_: derived.get(one_, []))
        if self.answers.guesses == guesses:
            self._heirs[cls] = found
        return found

    def _derived(self) -> dict[Cls, list[Cls]]:
        """The classes that name a class as their base, of all classes of the program."""
        if self._direct:
            return self._direct
        guesses = self.answers.guesses
        found: dict[Cls, list[Cls]] = {}
        for entries in self.program.classes.values():
            for file, node in entries:
                heir = Cls(node, file)
                for base in self.bases(heir) if node.bases else ():
                    if isinstance(base, Cls):
                        found.setdefault(base, []).append(heir)
        if self.answers.guesses == guesses:
            self._direct.update(found)
        return found

    # Attributes of objects

    def of_instance(self, value: Inst, name: str) -> Values:
        """An attribute of an object: the member of its class, and all values stored under the name."""
        found: Values = NOTHING
        for cls in self.heirs(value.cls):
            member = self.member(cls, name)
            if member is None:
                continue
            place, binding = member
            if isinstance(binding.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if any(
                    shown_source(one) in ("property", "functools.cached_property", "cached_property")
                    for one in binding.node.decorator_list
                ):
                    found |= self.possible.returned(binding.node, place.file)
                    continue
                found |= frozenset(
                    Fn(each.node, each.file, value) if isinstance(each, Fn) else each
                    for each in self.possible.of_definition(binding.node, place.file)
                )
            else:
                found |= self._field(value, name, place)
        stores = self.stores_of(value.cls, name)
        for file, store in stores:
            found |= self._stored(store, file)
        found |= self.holders.set_by_name(value.cls, name)
        if any(isinstance(value, Box) and value.kind in FILLED for value in found):
            if FilledAttributes(self.possible).may_be_filled(name, {value.cls}):
                loads = self.holders.loads(name, {value.cls})
                added = (self.possible.added(load, file) for file, load in loads)
                found = holding(found, unknown(f".{name}").union(*added))
        if not found and self.is_train_state(value.cls):
            found = self._given_to_state(name)
        if not found and not stores:
            external = self.external_bases(value.cls)
            found = unknown(f".{name}") if external else unknown(f"{value.cls.node.name}.{name}")
            if name in known_functions.CONTAINER_METHODS | known_functions.OBJECT_METHODS:
                found = one(Method(value, name))
        return found

    def stores_of(self, cls: Cls, name: str) -> list[tuple[File, ast.Attribute]]:
        """The assignments to an attribute that may set it on an object of a class."""
        return self.holders.stores(name, {cls})

    def _field(self, value: Inst, name: str, place: Place) -> Values:
        """A field of a dataclass or module: its default, and the arguments at calls of the class."""
        found: Values = NOTHING
        later = False
        for binding in place.scope.bindings[name]:
            statement = place.file.names.parents.get(binding.node)
            given = getattr(statement, "value", None)
            if isinstance(statement, (ast.Assign, ast.AnnAssign)) and given is not None:
                default = self._default(given, place.file)
                found |= default or NOTHING
                later = default is None
        fields = self.fields(value.cls)
        for cls in self.heirs(value.cls):
            if self._has_constructor(cls):
                continue  # which takes the arguments, and sets the field itself
            for file, call in self.program.calls.get(cls.node.name, ()):
                keyword = next((each.value for each in call.keywords if each.arg == name), None)
                index = fields.index(name) if name in fields else len(call.args)
                if keyword is not None:
                    found |= self.possible.of(keyword, file)
                elif index < len(call.args):
                    found |= self.possible.of(call.args[index], file)
        if self.is_train_state(value.cls):
            found |= self._given_to_state(name)
        if not found and (later or self._sets_alone(value.cls, name)):
            return NOTHING
        return found or unknown(f".{name}")

    def _has_constructor(self, cls: Cls) -> bool:
        """Whether a class has a constructor of the program's."""
        member = self.member(cls, "__init__")
        return member is not None and isinstance(member[1].node, ast.FunctionDef)

    def is_train_state(self, cls: Cls) -> bool:
        """Whether a class is a subclass of flax's `TrainState`."""
        return TRAIN_STATE in self.external_bases(cls)

    def _given_to_state(self, name: str) -> Values:
        """What the calls that make or renew flax states give to a field."""
        found: Values = NOTHING
        makers = [TRAIN_STATE.rpartition(".")[2], "create", "replace", "apply_gradients"]
        for entries in self.program.classes.values():
            for file, node in entries:
                makers += [node.name] if self.is_train_state(Cls(node, file)) else []
        for maker in dict.fromkeys(makers):
            for file, call in self.program.calls.get(maker, ()):
                for keyword in call.keywords:
                    if keyword.arg == name:
                        found |= self.possible.of(keyword.value, file)
                    elif keyword.arg is None:
                        found |= unknown(f".{name}")
        return found

    def _default(self, given: ast.expr, file: File) -> Values | None:
        """What a field of a class is at first: the default in `dataclasses.field(...)`, too; None if only its methods set it."""
        if not isinstance(given, ast.Call) or self.possible.name_of(given.func, file) != "dataclasses.field":
            return self.possible.of(given, file)
        named = {one.arg: one.value for one in given.keywords}
        if (default := named.get("default")) is not None:
            return self.possible.of(default, file)
        made = named.get("default_factory")
        if isinstance(made, ast.Lambda):
            return self.possible.of(made.body, file)
        if made is not None:
            makers = self.possible.of(made, file)
            if makers and all(isinstance(one_, Cls) for one_ in makers):
                return frozenset(Inst(one_) for one_ in makers if isinstance(one_, Cls))
            return unknown("default_factory")
        init = named.get("init")
        return None if isinstance(init, ast.Constant) and init.value is False else NOTHING

    def _sets_alone(self, cls: Cls, name: str) -> bool:
        """Whether the `__init__` of a class sets a field, and nothing builds an object with another one."""
        calls = self.program.calls
        if any(calls.get(one) for one in ("tree_at", "replace", "_replace", "setattr", "__setattr__")):
            return False
        if any(call.args or call.keywords for _, call in calls.get("__init__", ())):
            return False
        return self.member(cls, "__init__") is not None and bool(self.program.stores.get(name))

    def fields(self, cls: Cls) -> list[str]:
        """The annotated names of a class and its bases, in order."""
        found: list[str] = []
        for one_ in reversed(self.line(cls)):
            for statement in one_.node.body:
                if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                    if statement.target.id not in found and "ClassVar" not in ast.unparse(
                        statement.annotation
                    ):
                        found.append(statement.target.id)
        return found

    def _stored(self, store: ast.Attribute, file: File) -> Values:
        """The value of one assignment to an attribute."""
        above = file.names.parents.get(store)
        if isinstance(above, ast.Assign):
            return self.possible.of(above.value, file)
        if isinstance(above, ast.AnnAssign):
            return self.possible.of(above.value, file) if above.value is not None else NOTHING
        if isinstance(above, ast.AugAssign):
            return self.possible.of(above.value, file)
        if isinstance(above, (ast.Tuple, ast.List)):
            whole = file.names.parents.get(above)
            if isinstance(whole, ast.Assign):
                return self.expressions.item_at(
                    self.possible.of(whole.value, file), above.elts.index(store), len(above.elts)
                )
        return unknown(f".{store.attr}")


def _walk(first: Cls, following: Callable[[Cls], list[Cls]]) -> list[Cls]:
    """A class and all that follow it, each once: the first that follows and all behind it, then the second."""
    found: dict[Cls, None] = {}
    waiting = [first]
    while waiting:
        cls = waiting.pop()
        if cls not in found:
            found[cls] = None
            waiting += reversed(following(cls))
    return list(found)
