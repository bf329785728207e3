"""Whether an object was created in a region and nothing outside holds it: then the region may change it."""

from __future__ import annotations

import ast

from jaxlint.codemods.purity import known_functions
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.problems import Region
from jaxlint.codemods.purity.program import File, FunctionNode, own_parts
from jaxlint.codemods.purity.values import (
    Cls,
    Fn,
)
from jaxlint.codemods.source.name_scopes import Scope

_FRESH_BUILTINS = frozenset({"list", "dict", "set", "sorted", "bytearray", "tuple", "frozenset"})
_FRESH = ("collections.", "copy.", "numpy.zeros", "numpy.ones", "numpy.empty", "numpy.full", "numpy.arange", "numpy.linspace", "numpy.copy", "numpy.array", "numpy.eye", "jax.", "optax.", "numpy.stack", "numpy.concatenate", "dataclasses.replace")  # fmt: skip


def copied_first(function: FunctionNode | None) -> str:
    """The parameter that a function replaces by a copy before all else, as in `self = copy.copy(self)`; "" if there is none."""
    first = function.body[0] if isinstance(function, ast.FunctionDef) else None
    if not isinstance(first, ast.Assign) or not isinstance(first.value, ast.Call):
        return ""
    (target, *others), given = first.targets, first.value.args
    name = target.id if isinstance(target, ast.Name) and not others else ""
    whole = len(given) == 1 and isinstance(given[0], ast.Name) and given[0].id == name
    return name if whole and ast.unparse(first.value.func).rpartition(".")[2] == "copy" else ""


def given_to_copy(function: FunctionNode | None) -> set[str]:
    """The attributes that a function then sets in the copy to its arguments, in the next statement."""
    name = copied_first(function)
    following = function.body[1:2] if name and isinstance(function, ast.FunctionDef) else []
    return {
        part.attr
        for one in following
        if isinstance(one, ast.Assign)
        for target in one.targets
        for part in ast.walk(target)
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == name
    }


class Freshness:
    """The fresh objects of one region."""

    def __init__(self, possible: PossibleValues, region: Region) -> None:
        self.possible, self.region = possible, region

    def is_fresh_holder(
        self, node: ast.expr, file: File, function: FunctionNode | None, fresh_self: bool
    ) -> bool:
        if fresh_self and isinstance(node, ast.Name) and function is not None and function.args.args:
            if node.id == function.args.args[0].arg:
                return True
        if isinstance(node, ast.Attribute) and node.attr == "__dict__":
            return self.is_fresh_holder(node.value, file, function, fresh_self)
        if isinstance(node, ast.Subscript):
            return self._holds_fresh(node.value, file, function)
        return self.fresh(node, file, function)

    def _holds_fresh(self, node: ast.expr, file: File, function: FunctionNode | None) -> bool:
        """Whether all items of a container were created here: `out = {"a": [], "b": []}`."""
        if not (isinstance(node, ast.Name) and self.fresh(node, file, function)):
            return False
        scope = file.names.scope_at(node).resolve(node.id)
        assert scope is not None
        for binding in scope.bindings[node.id]:
            given = getattr(file.names.parents.get(binding.node), "value", None)
            items = (
                given.values
                if isinstance(given, ast.Dict)
                else given.elts
                if isinstance(given, ast.List)
                else [given.elt]
                if isinstance(given, ast.ListComp)
                else None
            )
            if items is None or not all(self.fresh(item, file, function) for item in items):
                return False
        for use in file.names.uses_of(node.id, scope):
            above = file.names.parents.get(use.name)
            if isinstance(above, ast.Subscript) and not isinstance(above.ctx, ast.Load):
                statement = file.names.parents.get(above)
                if not (isinstance(statement, ast.Assign) and self.fresh(statement.value, file, function)):
                    return False
            elif isinstance(above, ast.Attribute) and above.attr in known_functions.CHANGING:
                return False
        return True

    def fresh(self, node: ast.expr, file: File, function: FunctionNode | None, depth: int = 0) -> bool:
        """Whether an expression is an object that was created here and that nothing else holds."""
        if depth > 5:
            return False
        if isinstance(
            node,
            (
                ast.List,
                ast.Dict,
                ast.Set,
                ast.Tuple,
                ast.ListComp,
                ast.DictComp,
                ast.SetComp,
                ast.GeneratorExp,
                ast.BinOp,
                ast.UnaryOp,
                ast.Compare,
                ast.Constant,
                ast.JoinedStr,
            ),
        ):
            return True
        if isinstance(node, ast.IfExp):
            return all(self.fresh(each, file, function, depth + 1) for each in (node.body, node.orelse))
        if isinstance(node, ast.Name):
            scope = file.names.scope_at(node).resolve(node.id)
            if scope is None or not self._is_own_scope(scope, function, file):
                return False
            bindings = [one.node for one in scope.bindings[node.id]]
            if scope.node is function and copied_first(function) == node.id:
                bindings = [one for one in bindings if not isinstance(one, ast.arg)]
            return all(self._fresh_binding(one, file, function, depth) for one in bindings)
        if isinstance(node, ast.Call):
            name = self.possible.name_of(node.func, file)
            if name in _FRESH_BUILTINS or name.startswith(_FRESH):
                return True
            if isinstance(node.func, ast.Attribute) and node.func.attr == "copy" and not node.args:
                return True
            if self._is_empty_object(node.func, file):
                return True
            values = self.possible.of(node.func, file)
            if not values:
                return False
            return all(
                isinstance(value, Cls) or (isinstance(value, Fn) and self._returns_fresh(value, depth))
                for value in values
            )
        return False

    def _is_empty_object(self, function: ast.expr, file: File) -> bool:
        """`object.__new__` of any class, and `C.__new__` of one that has none of its own."""
        if not isinstance(function, ast.Attribute) or function.attr != "__new__":
            return False
        if file.names.builtin(function.value) == "object":
            return True
        owners = self.possible.of(function.value, file)
        return bool(owners) and all(
            isinstance(one, Cls) and self.possible.classes.member(one, "__new__") is None for one in owners
        )

    def _is_own_scope(self, scope: Scope, function: FunctionNode | None, file: File) -> bool:
        """Whether the variables of a scope live no longer than the region, or than a call in it."""
        if scope.node is file.tree or isinstance(scope.node, ast.ClassDef):
            return False
        return (
            function is not None and (scope.node is function or self.region.encloses(scope.node, file))
        ) or not self.region.own

    def _fresh_binding(self, node: ast.AST, file: File, function: FunctionNode | None, depth: int) -> bool:
        if self.region.own and function is None and node not in self.region.own:
            return False
        if not isinstance(node, ast.Name):
            return False
        above = file.names.parents.get(node)
        if isinstance(above, ast.AugAssign):
            return True
        given = above.value if isinstance(above, ast.NamedExpr) else file.names.given(node)
        return given is not None and self.fresh(given, file, function, depth + 1)

    def _returns_fresh(self, value: Fn, depth: int) -> bool:
        if isinstance(value.node, ast.Lambda):
            return self.fresh(value.node.body, value.file, value.node, depth + 1)
        returns = [
            part for part in own_parts(value.node) if isinstance(part, ast.Return) and part.value is not None
        ]
        return all(
            self.fresh(part.value, value.file, value.node, depth + 1)
            for part in returns
            if part.value is not None
        )
