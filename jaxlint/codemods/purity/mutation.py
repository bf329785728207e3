"""Whether an object is mutated after its creation, by any use of a variable that holds it, wherever it is passed."""

from __future__ import annotations

import ast

from jaxlint.codemods.purity import known_functions
from jaxlint.codemods.purity.left_alone import is_left_alone
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File, function_around
from jaxlint.codemods.purity.values import (
    ARRAY,
    FILLED,
    NUMPY,
    Box,
    Cls,
    Ext,
    Fn,
    Inst,
    Made,
    Plain,
    Unknown,
    Value,
    Whole,
    Wrapped,
    leaves_of,
)
from jaxlint.codemods.source.name_scopes import Scope
from jaxlint.codemods.source.text_edits import shown_source
from jaxlint.jaxapi.layer_classes import NNX_DICTS, NNX_LISTS

_DEPTH = 6
# NumPy functions whose result is an array of its own; others may return a view, or their argument.
_MAKERS = frozenset({f"numpy.{name}" for name in ("zeros", "ones", "empty", "full", "zeros_like", "ones_like", "full_like", "arange", "linspace", "logspace", "geomspace", "array", "eye", "identity", "copy", "cumsum", "cumprod", "stack", "concatenate", "tile", "repeat", "exp", "log", "sqrt", "sin", "cos", "tanh", "abs", "maximum", "minimum", "clip", "power", "square", "outer", "dot", "matmul", "hanning", "hamming", "fft.fftfreq")})  # fmt: skip
# NumPy functions that write into a third argument.
_WITH_OUT = frozenset({"add", "subtract", "multiply", "divide", "true_divide", "floor_divide", "mod", "remainder", "power", "maximum", "minimum", "matmul", "dot", "fmax", "fmin", "arctan2", "hypot", "logaddexp"})  # fmt: skip
_DISPLAYS = (ast.List, ast.ListComp, ast.Dict, ast.DictComp)
_CONTAINERS = frozenset({"list", "dict", *NNX_LISTS, *NNX_DICTS})


class Mutations:
    """Follows objects from use to use."""

    def __init__(self, possible: PossibleValues) -> None:
        self.possible, self.program = possible, possible.program
        self._open: set[object] = set()

    def uses_change(self, name: str, scope: Scope, file: File, depth: int) -> str | None:
        """Whether any use of a variable may mutate the object that it holds."""
        if depth > _DEPTH:
            return "is passed on too far to follow"
        for other, use in self.program.uses_of(name, scope, file):
            if (why := self._use_changes(use, other, depth)) is not None:
                return why
        return None

    def may_change_in_place(self, attribute: ast.Attribute, file: File) -> bool:
        """Whether an attribute holds NumPy arrays or filled containers, which something may mutate."""
        held = self.possible.of(attribute, file)
        filled = any(isinstance(one, Box) and one.kind in FILLED for one in held)
        if not filled and NUMPY not in leaves_of(held):
            return False
        if (
            not filled
            and is_left_alone(attribute, self.program)
            and not self._is_read_by_name(attribute.attr)
        ):
            return False
        return self._attribute_changes(attribute, file)

    def _attribute_changes(self, attribute: ast.Attribute, file: File) -> bool:
        """Whether a NumPy array or a container in an attribute, of any object that this may be, may be mutated: something else may hold
        it, or a use of the attribute may change it, or may read it by name."""
        name, holders = attribute.attr, self.possible.classes.holders
        objects = holders.of(attribute.value, file)
        for other, store in holders.stores(name, objects):
            above = other.names.parents.get(store)
            if not isinstance(above, ast.Assign | ast.AnnAssign) or not self._is_made(above, other):
                return True
        if any(self._use_changes(load, other, 0) for other, load in holders.loads(name, objects)):
            return True
        return self._is_read_by_name(name)

    def _is_read_by_name(self, name: str) -> bool:
        """Whether the program may read an attribute by its name in a string."""
        for reader in ("getattr", "attrgetter"):
            for _, call in self.program.calls.get(reader, ()):
                asked = call.args[1:2] if reader == "getattr" else call.args
                if any(not isinstance(one, ast.Constant) or one.value == name for one in asked):
                    return True
        return False

    def _is_made(self, statement: ast.Assign | ast.AnnAssign, file: File) -> bool:
        """Whether a statement stores a new array or container in one place alone."""
        value = statement.value
        if isinstance(value, ast.Call) and self.possible.name_of(value.func, file) in _CONTAINERS:
            value = value.args[0] if len(value.args) == 1 and not value.keywords else None
        if isinstance(statement, ast.Assign) and len(statement.targets) > 1:
            return False
        if isinstance(value, _DISPLAYS):  # in which no other container is, that something else may hold
            parts = self.possible.expressions.contents(self.possible.of(value, file))
            return not any(isinstance(one, Box) or one == NUMPY for one in parts)
        if isinstance(value, ast.Constant | ast.BinOp | ast.UnaryOp | ast.Compare):
            return True
        return (
            isinstance(value, ast.Call)
            and self.possible.name_of(value.func, file) in _MAKERS
            and not any(one.arg in (None, "out", "copy") for one in value.keywords)
        )

    def _use_changes(self, use: ast.expr, file: File, depth: int) -> str | None:
        """Whether the code around a use may mutate the object, or passes it to unknown code."""
        place = self.program.place(file, use)
        above = file.names.parents.get(use)
        if isinstance(above, ast.Attribute) and above.value is use:
            return self._attribute_use(above, file, depth)
        if isinstance(above, ast.Subscript) and above.value is use:
            if not isinstance(above.ctx, ast.Load):
                return f"changes at {place} (`{shown_source(file.names.parents.get(above, above))}`)"
            return self._part_use(above, file, depth)
        if isinstance(above, ast.AugAssign):
            return f"changes at {place} (`{shown_source(above)}`)" if above.target is use else None
        if isinstance(above, ast.keyword):
            above = file.names.parents.get(above)
        if isinstance(above, (ast.Call, ast.Starred)):
            return self._handed(use, above, file, depth)
        if isinstance(above, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and above.value is use:
            return self._aliased(above, file, depth)
        if isinstance(above, ast.Return):
            return self._returned(use, file, depth)
        if isinstance(
            above,
            (
                ast.BinOp,
                ast.UnaryOp,
                ast.Compare,
                ast.BoolOp,
                ast.FormattedValue,
                ast.Expr,
                ast.If,
                ast.While,
                ast.Assert,
                ast.Slice,
                ast.Subscript,
            ),
        ):
            return (
                None
                if not isinstance(above, ast.BoolOp)
                else self._use_changes(above, file, depth + 1)
                if depth < _DEPTH
                else "is passed on"
            )
        if isinstance(above, ast.IfExp):
            return (
                None
                if above.test is use
                else self._use_changes(above, file, depth + 1)
                if depth < _DEPTH
                else "is passed on"
            )
        if isinstance(above, (ast.For, ast.comprehension)) and above.iter is use:
            return self._iterated(above, file, depth)
        if isinstance(above, ast.Delete):
            return f"changes at {place}"
        if isinstance(above, (ast.Tuple, ast.List, ast.Dict, ast.Set)):
            if isinstance(file.names.parents.get(above), (ast.Compare, ast.Subscript, ast.FormattedValue)):
                return None
        return f"may be changed from {place} on, where it is passed on"

    def _attribute_use(self, node: ast.Attribute, file: File, depth: int) -> str | None:
        place = self.program.place(file, node)
        if not isinstance(node.ctx, ast.Load):
            return f"changes at {place} (`{shown_source(file.names.parents.get(node, node))}`)"
        above = file.names.parents.get(node)
        if isinstance(above, ast.AugAssign) and above.target is node:
            return f"changes at {place}"
        if isinstance(above, ast.Call) and above.func is node:
            return self._method_changes(node, above, file)
        return self._part_use(node, file, depth)

    def _method_changes(self, node: ast.Attribute, call: ast.Call, file: File) -> str | None:
        place = self.program.place(file, node)
        text = f"changes at {place} (`{shown_source(call)}`)"
        for value in self.possible.of(node.value, file):
            if isinstance(value, (Box, Plain)):
                if node.attr in known_functions.CHANGING:
                    return text
            elif isinstance(value, Inst):
                for callee in self.possible.attribute(value, node.attr):
                    if isinstance(callee, Fn):
                        if self._method_stores(callee):
                            return text
                    elif node.attr not in ("apply", "init", "replace", "_replace", "apply_gradients"):
                        return f"may be changed at {place} (`{shown_source(call)}`)"
            elif isinstance(value, Made):
                if (
                    not value.name.startswith(known_functions.FROZEN)
                    and node.attr not in known_functions.CONTAINER_METHODS
                ):
                    return f"may be changed at {place} (`{shown_source(call)}`)"
            elif not isinstance(value, (Whole, Ext, Cls, Fn, Wrapped)):
                return f"may be changed at {place} (`{shown_source(call)}`)"
        return None

    def _method_stores(self, callee: Fn) -> bool:
        """Whether a method mutates its object, or passes it to code that may."""
        node = callee.node
        if isinstance(node, ast.Lambda) or not node.args.args:
            return True
        own = node.args.args[0].arg
        scope = callee.file.names.scope_inside(node)
        if (node, own) in self._open:
            return False
        self._open.add((node, own))
        try:
            return scope is None or self.uses_change(own, scope, callee.file, 2) is not None
        finally:
            self._open.discard((node, own))

    def _part_use(self, node: ast.expr, file: File, depth: int) -> str | None:
        """A part of an object: if it is mutable, its own uses count."""
        values = self.possible.of(node, file)
        if values and all(is_immutable(value) for value in values):
            above = file.names.parents.get(node)
            if isinstance(above, ast.AugAssign) and above.target is node:
                return f"changes at {self.program.place(file, node)}"
            return None
        if depth >= _DEPTH:
            return "is passed on too far to follow"
        return self._use_changes(node, file, depth + 1)

    def _handed(self, use: ast.expr, call: ast.AST, file: File, depth: int) -> str | None:
        place = self.program.place(file, use)
        if isinstance(call, ast.Starred):
            values = self.possible.of(use, file)
            if all(
                isinstance(value, Box) and all(is_immutable(part) for part in value.parts())
                for value in values
            ):
                return None
            return f"may be changed at {place}, where it is passed on"
        assert isinstance(call, ast.Call)
        if call.func is use:
            return None
        if any(keyword.arg == "out" and keyword.value is use for keyword in call.keywords):
            return f"changes at {place} (`{shown_source(call)}`)"
        for callee in self.possible.of(call.func, file) or (Unknown(),):
            if isinstance(callee, Ext):
                if (
                    callee.name in known_functions.BUILTINS
                    or callee.name == "print"
                    or (known_functions.computes(callee.name) and not callee.name.startswith("collections."))
                ):
                    if callee.name in known_functions.BUILTINS and callee.name in (
                        "list",
                        "tuple",
                        "dict",
                        "iter",
                        "enumerate",
                        "zip",
                        "map",
                        "filter",
                        "reversed",
                        "sorted",
                    ):
                        continue
                    if callee.name.rpartition(".")[2] in _WITH_OUT and use in call.args[2:]:
                        return f"changes at {place} (`{shown_source(call)}`)"
                    if callee.name.startswith("numpy.as") or callee.name in (
                        "numpy.ravel",
                        "numpy.reshape",
                        "numpy.transpose",
                        "numpy.squeeze",
                    ):
                        return self._use_changes(call, file, depth + 1) if depth < _DEPTH else "is passed on"
                    continue
                if callee.name == "getattr" and len(call.args) > 1:
                    continue
                return f"may be changed at {place} (`{shown_source(call)}`)"
            if isinstance(callee, (Fn, Wrapped)):
                if (why := self._into(callee, use, call, file, depth)) is not None:
                    return why
            elif isinstance(callee, Cls):
                return f"may be changed from {place} on, where it is passed to a constructor"
            else:
                return f"may be changed at {place} (`{shown_source(call)}`)"
        return None

    def _into(
        self, callee: Fn | Wrapped, use: ast.expr, call: ast.Call, file: File, depth: int
    ) -> str | None:
        """Whether a program function that receives the object mutates its parameter."""
        if isinstance(callee, Wrapped):
            if callee.how in ("functools.partial",) or callee.how not in known_functions.TRANSFORMS:
                return f"may be changed at {self.program.place(file, use)} (`{shown_source(call)}`)"
            for inner in callee.inner:
                if (
                    isinstance(inner, (Fn, Wrapped))
                    and (why := self._into(inner, use, call, file, depth)) is not None
                ):
                    return why
            return None
        parameter = self.possible.call_sites.parameter_for(use, call, callee)
        if parameter is None:
            return f"may be changed at {self.program.place(file, use)} (`{shown_source(call)}`)"
        scope = callee.file.names.scope_inside(callee.node)
        key = (callee.node, parameter.arg)
        if scope is None or key in self._open:
            return None
        self._open.add(key)
        try:
            return self.uses_change(parameter.arg, scope, callee.file, depth + 1)
        finally:
            self._open.discard(key)

    def _aliased(
        self, statement: ast.Assign | ast.AnnAssign | ast.NamedExpr, file: File, depth: int
    ) -> str | None:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            if isinstance(target, ast.Name):
                scope = file.names.scope_at(target).resolve(target.id)
                if scope is None:
                    return "is passed on"
                key = (id(scope), target.id, "alias")
                if key in self._open:
                    continue
                self._open.add(key)
                try:
                    if (why := self.uses_change(target.id, scope, file, depth + 1)) is not None:
                        return why
                finally:
                    self._open.discard(key)
            else:
                return f"may be changed from {self.program.place(file, statement)} on, where it is passed on"
        return None

    def _returned(self, use: ast.expr, file: File, depth: int) -> str | None:
        function = function_around(use, file)
        if function is None or depth >= _DEPTH:
            return "is passed on too far to follow"
        for call, how, other in self.possible.call_sites.calls_of(function, file):
            if call is None or how:
                return f"may be changed from {self.program.place(file, use)} on, where it is returned"
            if (why := self._use_changes(call, other, depth + 1)) is not None:
                return why
        return None

    def _iterated(self, loop: ast.For | ast.comprehension, file: File, depth: int) -> str | None:
        elements = self.possible.expressions.elements(self.possible.of(loop.iter, file))
        if elements and all(is_immutable(value) or value == ARRAY for value in elements):
            return None
        if isinstance(loop.target, ast.Name):
            scope = file.names.scope_at(loop.target).resolve(loop.target.id)
            if scope is not None and depth < _DEPTH:
                return self.uses_change(loop.target.id, scope, file, depth + 1)
        return f"may be changed at {self.program.place(file, loop.iter)}, where its parts are passed on"


def is_immutable(value: Value) -> bool:
    """Whether a value is immutable."""
    if isinstance(value, Plain):
        return value.kind != "numpy"
    if isinstance(value, (Fn, Cls, Ext, Whole)):
        return True
    if isinstance(value, Wrapped):
        return True
    if isinstance(value, Made):
        return value.name.startswith(known_functions.FROZEN)
    if isinstance(value, Box):
        return value.kind == "tuple" and all(is_immutable(part) for part in value.parts())
    return False
