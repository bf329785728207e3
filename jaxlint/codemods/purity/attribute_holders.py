"""Whose attribute is read or set: the classes that an object may belong to, and the accesses that may concern it.

    class Layer:
        def __init__(self):
            self.params = {"w": jnp.ones(3)}
    class Model:
        def __init__(self):
            self.params = [layer.params for layer in layers]
    model = Model()
    model.params = advance(model.params)

The last line sets nothing on a `Layer`. An object is known as the `self` of a method, or by its possible values, wherever it was
made. Where it is not, the access may concern any object.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence, Set
from typing import Any, Protocol

from jaxlint.codemods.purity.callbacks import first_parameter
from jaxlint.codemods.purity.program import File, function_around
from jaxlint.codemods.purity.value_queries import ValueQueries
from jaxlint.codemods.purity.values import NOTHING, Cls, Inst, Values, Whole, unknown
from jaxlint.codemods.purity.writes_by_name import dictionary_is_read, may_mention

Access = tuple[File, ast.Attribute]
_BY_NAME = ("setattr", "__setattr__")


class ClassQueries(Protocol):
    """The hierarchy of a program's classes."""

    def heirs(self, cls: Cls) -> list[Cls]:
        """The program's subclasses of a class, itself included."""

    def external_bases(self, cls: Cls) -> set[str]:
        """The names of the external classes that a class derives from; "?" for an unknown one."""

    def class_around(self, function: ast.AST, file: File) -> Cls | None:
        """The class that a function is a method of."""


class AttributeHolders:
    """The objects whose attributes one program reads and sets."""

    def __init__(self, possible: ValueQueries, classes: ClassQueries) -> None:
        self.possible, self.program, self.classes = possible, possible.program, classes

    def of(self, node: ast.expr, file: File) -> frozenset[Cls] | None:
        """The classes that an object may belong to, by their heirs too; None if it may be any object."""
        method = function_around(node, file)
        if isinstance(method, ast.FunctionDef) and self._is_self(node, method, file):
            own = self.classes.class_around(method, file)
            if own is not None:
                return None if self._is_lent(method, own) else frozenset({own})
        return self.of_values(self.possible.of(node, file))

    def of_values(self, values: Values) -> frozenset[Cls] | None:
        """The same for possible values."""
        if not values or not all(isinstance(one, Inst | Cls | Whole) for one in values):
            return None
        found = (one.cls if isinstance(one, Inst) else one for one in values)
        return frozenset(one for one in found if isinstance(one, Cls))

    def _is_self(self, node: ast.expr, method: ast.FunctionDef, file: File) -> bool:
        """Whether an expression is the first parameter of a method, and always that."""
        if not isinstance(node, ast.Name) or node.id != first_parameter(method) or method.decorator_list:
            return False
        scope = file.names.scope_inside(method)
        return scope is not None and len(scope.bindings.get(node.id, ())) == 1

    def _is_lent(self, method: ast.FunctionDef, own: Cls) -> bool:
        """Whether a method may be called with an object of another class: `Other.step = Own.step`, `Own.step(other)`."""
        family = set(self.classes.heirs(own))
        for file, load in self.program.loads.get(method.name, ()):
            if not any(isinstance(one, Cls) for one in self.possible.of(load.value, file)):
                continue
            call = file.names.parents.get(load)
            if not isinstance(call, ast.Call) or call.func is not load or not call.args:
                return True
            given = self.of_values(self.possible.of(call.args[0], file))
            if given is None or not given <= family:
                return True
        return False

    def loads(self, name: str, objects: Set[Cls] | None) -> list[Access]:
        """The reads of an attribute that may be of an object of these classes, or of one that derives from them."""
        return self._concerning(self.program.loads.get(name, ()), objects)

    def stores(self, name: str, objects: Set[Cls] | None) -> list[Access]:
        """The same for assignments to it."""
        return self._concerning(self.program.stores.get(name, ()), objects)

    def _concerning(self, accesses: Iterable[Access], objects: Set[Cls] | None) -> list[Access]:
        accesses = list(accesses)
        if objects is None or not accesses or "__class__" in self.program.stores:
            return accesses
        family = self._family(objects)
        if any("?" in self.classes.external_bases(one) for one in family):
            return accesses
        return [(file, node) for file, node in accesses if self._meets(self.of(node.value, file), family)]

    def _family(self, classes: Iterable[Cls]) -> set[Cls]:
        return {heir for one in classes for heir in self.classes.heirs(one)}

    def _meets(self, holders: Set[Cls] | None, family: Set[Cls]) -> bool:
        return holders is None or not family.isdisjoint(self._family(holders))

    # Attributes that are set by name

    def set_by_name(self, cls: Cls, name: str) -> Values:
        """The values that `setattr`, `vars` or `__dict__` may give to an attribute of an object of a class."""
        found: Values = NOTHING
        family: set[Cls] | None = None
        for file, target, call in self._written_by_name():
            if call is not None and not may_mention(call, name):
                continue
            family = self._family({cls}) if family is None else family
            anything = "__class__" in self.program.stores
            if anything or self._meets(self.of(target, file), family):
                given = call.args[2] if call is not None and len(call.args) > 2 else None
                found |= unknown(f".{name}") if given is None else self.possible.of(given, file)
        return found

    def _written_by_name(self) -> Sequence[tuple[File, ast.expr, ast.Call | None]]:
        """The objects whose attributes the program sets by name, and the calls that do that."""
        memo: dict[object, Any] = self.program.memo
        if "set by name" not in memo:
            memo["set by name"] = [
                *(
                    (file, call.args[0], call)
                    for name in _BY_NAME
                    for file, call in self.program.calls.get(name, ())
                    if len(call.args) > 1
                ),
                *(
                    (file, call.args[0], None)
                    for file, call in self.program.calls.get("vars", ())
                    if call.args and not dictionary_is_read(call, file)
                ),
                *(
                    (file, load.value, None)
                    for file, load in self.program.loads.get("__dict__", ())
                    if not dictionary_is_read(load, file)
                ),
            ]
        found: Sequence[tuple[File, ast.expr, ast.Call | None]] = memo["set by name"]
        return found
