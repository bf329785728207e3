"""Numbers in an argument that belong to the compiled program, and whether each loop iteration changes them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from jaxlint.api import Frame
from jaxlint.api.syntax import cache, dotted, walk
from jaxlint.api.values import DictValue, Function, Instance, Static, TupleValue, Value, constant
from jaxlint_rules._callables import innermost, named_or_method
from jaxlint_rules._names import last_name

_DEPTH = 4
_BOUNDS = frozenset({"min", "max"})  # a bound limits the number of values


def compiled_numbers(value: Value, every: bool, depth: int = _DEPTH) -> Iterator[tuple[str, float]]:
    """The path and value of each known number that is not a leaf. `every`: leaves count as well."""
    if isinstance(value, Static):
        number = constant(value)
        if every and isinstance(number, (int, float)) and not isinstance(number, bool):
            yield "", number
        return
    for name, part in _parts(value) if depth else ():
        static = every
        if isinstance(value, Instance):
            declared = value.cls.all_fields()
            static = every or (name in declared and declared[name].static)
        for path, number in compiled_numbers(part, static, depth - 1):
            yield f"{name}.{path}" if path else name, number


def _parts(value: Value) -> Iterator[tuple[str, Value]]:
    if isinstance(value, Instance):
        yield from value.fields.items()
    elif isinstance(value, DictValue):
        yield from ((str(key), part) for key, part in value.items.items())
    elif isinstance(value, TupleValue) and value.items is not None:
        names = value.cls.all_fields() if value.cls is not None else map(str, range(len(value.items)))
        yield from zip(names, value.items, strict=False)


def is_stepped(name: str, number: float, loop: ast.AST, frame: Frame, jitted: Value, given: Value) -> bool:
    """Whether the loop, a function that it calls, the jitted function, or a method of its argument `given` updates the
    number from its own value."""
    called = [named_or_method(part.func, frame) for part in walk(loop) if isinstance(part, ast.Call)]
    functions = [innermost(value) for value in (*called, jitted) if value is not None]
    if isinstance(given, Instance) and isinstance(functions[-1], Function):
        methods = {part.attr for part in walk(functions[-1].node) if isinstance(part, ast.Attribute)}
        functions += [method for name in methods if (method := given.cls.lookup(name)) is not None]
    bodies = [loop, *(function.node for function in functions if isinstance(function, Function))]
    if any((name, number) in _computed_in(body).literals for body in bodies):
        return False  # it is set to that constant
    own, *others = bodies
    return name in _computed_in(own).names or any(name in _computed_in(body).parts for body in others)


@dataclass(frozen=True, slots=True)
class _Sums:
    """The reads of a body's computations: `step` in `state.step + 1`; and the names that it assigns literal numbers."""

    names: frozenset[str]
    parts: frozenset[str]  # of these, attributes and items
    literals: frozenset[tuple[str, float]]


@cache
def _computed_in(body: ast.AST) -> _Sums:
    operands: list[ast.expr] = []
    literals: set[tuple[str, float]] = set()
    elsewhere: set[ast.AST] = set()
    for part in walk(body):
        if isinstance(part, ast.keyword):
            literals |= _literal(part.arg or "", part.value)
            # `w=w / self.scale` makes another `w`, not another `scale`.
            if part.arg != "replace":  # of `eqx.tree_at`
                elsewhere |= {sum for sum in _sums(part.value) if part.arg not in _operands(sum)}
        elif isinstance(part, ast.Assign):
            literals |= {pair for target in part.targets for pair in _literal(_name_of(target), part.value)}
        elif _returns(part):
            elsewhere |= _sums(part)
    for part in walk(body):
        if isinstance(part, ast.BinOp) and part not in elsewhere:
            operands += [part.left, part.right]
        elif isinstance(part, ast.AugAssign):
            operands.append(part.target)
    names = frozenset(map(_name_of, operands)) - {""}
    parts = frozenset(_name_of(operand) for operand in operands if not isinstance(operand, ast.Name)) - {""}
    return _Sums(names, parts, frozenset(literals))


def _returns(node: ast.AST) -> bool:
    """Expressions that are bounded or periodic."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, (ast.Mod, ast.FloorDiv))
    return isinstance(node, ast.Call) and dotted(node.func) in _BOUNDS


def _literal(name: str, value: ast.expr) -> set[tuple[str, float]]:
    number = value.value if isinstance(value, ast.Constant) else None
    return {(name, number)} if isinstance(number, (int, float)) else set()


def _sums(node: ast.AST) -> set[ast.BinOp]:
    return {part for part in walk(node) if isinstance(part, ast.BinOp)}


def _operands(node: ast.BinOp) -> set[str]:
    return {_name_of(node.left), _name_of(node.right)}


def _name_of(node: ast.expr) -> str:
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    return last_name(node) if dotted(node) else ""
