"""Calls that Python makes implicitly: special methods for operators, items, attributes and conversions."""

from __future__ import annotations

import ast

from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.values import (
    BoundMethod,
    ClassValue,
    External,
    Function,
    Instance,
    Partial,
    Transformed,
    TupleValue,
    Value,
    find_array,
)
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.frame import Frame

OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.MatMult: "matmul", ast.Div: "truediv", ast.FloorDiv: "floordiv",
    ast.Mod: "mod", ast.Pow: "pow", ast.LShift: "lshift", ast.RShift: "rshift", ast.BitAnd: "and", ast.BitOr: "or",
    ast.BitXor: "xor",
}  # fmt: skip
UNARY: dict[type[ast.AST], str] = {ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__"}
# Each comparison, with the one that Python tries on the right operand if the left returns NotImplemented.
COMPARISONS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Eq: ("__eq__", "__eq__"), ast.NotEq: ("__ne__", "__ne__"), ast.Lt: ("__lt__", "__gt__"),
    ast.Gt: ("__gt__", "__lt__"), ast.LtE: ("__le__", "__ge__"), ast.GtE: ("__ge__", "__le__"),
}  # fmt: skip
# Methods that Python calls at every access and that few classes define.
HOOKS = frozenset({"__setattr__", "__getattribute__", "__instancecheck__"})
# Builtins that call a method of their argument.
ASKING = {
    name: f"__{name}__"
    for name in ("abs", "round", "divmod", "float", "int", "complex", "len", "hash", "repr", "reversed", "next", "format")
} | {"str": "__str__", "print": "__str__"}  # fmt: skip


class DataModel(Part):
    """Evaluates the special methods of project classes."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        # Special methods, and the contexts in which they were evaluated.
        self.implications: set[object] = set()
        self.hooks: set[str] = set()  # the special methods that some project class defines

    def special(
        self, value: Value, name: str, args: list[Value], node: ast.AST, frame: Frame
    ) -> Value | None:
        """The result of a special method of `value`'s class; None if it has none or returns `NotImplemented`."""
        cls = value.cls if isinstance(value, (Instance, TupleValue)) else None
        method = cls.lookup(name) if cls is not None else None
        if not isinstance(method, (Function, Transformed, Partial)):
            return None
        result = self.machine.language.call_value(BoundMethod(method, value), Call(args, {}, node, frame))
        if type(result) is External and result.name == "builtins.NotImplemented":
            return None
        return result

    def implied(self, value: Value, name: str, args: list[Value], node: ast.AST, frame: Frame) -> None:
        """Evaluates a special method that Python calls at every access, once for each context.

        Only its events matter: the access itself has the same result as without the method.
        """
        if name not in self.hooks:
            return
        cls = (
            value.cls
            if isinstance(value, Instance)
            else value.meta
            if isinstance(value, ClassValue)
            else None
        )
        method = cls.lookup(name) if isinstance(cls, ClassValue) else None
        if not isinstance(method, Function):
            return
        self.call_implicitly(method, Call([value, *args], {}, node, frame))

    def call_implicitly(self, method: Value, call: Call) -> None:
        """Evaluates implicit calls by Python or JAX, once for each stage and each choice of traced arguments."""
        function = method
        while isinstance(function, (BoundMethod, Partial)):
            function = function.function
        if isinstance(function, Function):
            traced = [find_array(part, True, 2) is not None for part in call.inputs]
            way = (function.node, function.scope.serial, call.frame.stage.key, *traced)
            if way not in self.implications:
                self.implications.add(way)
                self.machine.staging.run_library_code(method, call)

    def operate(
        self, left: Value, op: ast.operator, right: Value, node: ast.AST, frame: Frame
    ) -> Value | None:
        """`left op right` by the methods of either operand."""
        name = OPERATORS[type(op)]
        result = self.special(left, f"__{name}__", [right], node, frame)
        return result if result is not None else self.special(right, f"__r{name}__", [left], node, frame)

    def operate_in_place(
        self, left: Value, op: ast.operator, right: Value, node: ast.AST, frame: Frame
    ) -> Value:
        """`left op= right`."""
        result = self.special(left, f"__i{OPERATORS[type(op)]}__", [right], node, frame)
        return result if result is not None else self.machine.language.binary(left, right, op, node, frame)

    def compare_instances(
        self, left: Value, op: ast.cmpop, right: Value, node: ast.AST, frame: Frame
    ) -> Value | None:
        """The result of `left == right` and similar comparisons, by the methods of either operand."""
        names = COMPARISONS.get(type(op))
        if names is None:
            return None
        result = self.special(left, names[0], [right], node, frame)
        return result if result is not None else self.special(right, names[1], [left], node, frame)

    def make_by_class(self, cls: ClassValue, call: Call) -> None:
        """Evaluates what runs between the call of a class and its `__init__`: `__call__` of the metaclass, and
        `__new__`."""
        of_meta = cls.meta.lookup("__call__") if isinstance(cls.meta, ClassValue) else None
        if isinstance(of_meta, Function):
            self.machine.staging.run_library_code(of_meta, call.passing([cls, *call.args]))
        new = cls.lookup("__new__")
        if isinstance(new, Function):
            self.machine.staging.run_library_code(new, call.passing([cls, *call.args]))
