"""Objects that hold functions of their own: each object is another program where it is static or, for `eqx.filter_jit`, a leaf."""

from __future__ import annotations

import ast

from jaxlint.api import Frame, Loop
from jaxlint.api.syntax import cache, walk
from jaxlint.api.tables import OPTIMIZERS
from jaxlint.api.values import ExternalObject, Function, Instance, Transformed, Value
from jaxlint_rules._loops import assigned_once, host_loops
from jaxlint_rules._names import last_name
from jaxlint_rules._periods import comes_back

_OPTIMIZERS = OPTIMIZERS | {"optax.chain"}


def own_function(value: Instance) -> str:
    """The field that holds a function which the constructor creates: a lambda, a nested function, or `jax.jit` of one."""
    maker = value.cls.lookup("__init__")
    if not isinstance(maker, Function):
        return ""
    return next((name for name, part in value.fields.items() if _is_made_in(part, maker)), "")


def _is_made_in(part: Value, maker: Function) -> bool:
    """`jax.jit` of the same function is another object at each call; equinox compares its own wrappers by content."""
    if not isinstance(part, (Transformed, Function)) or part.module is not maker.module:
        return False
    if isinstance(part, Transformed) and part.kind != "jit":
        return False
    first, last = maker.node.lineno, maker.node.end_lineno or 0
    return first < getattr(part.node, "lineno", 0) <= last


def loop_that_makes(value: Instance, argument: ast.expr, frame: Frame) -> tuple[Frame, Loop] | None:
    """The loop that creates an object again and again, around a place that passes it: in the frame, around an inner loop, or
    in its caller."""
    if isinstance(argument, ast.Name):
        for loop in host_loops(frame):
            made = assigned_once(loop.node).get(argument.id)
            is_new = isinstance(made, ast.Call) and last_name(made.func) == value.cls.name
            if is_new and comes_back(frame, loop):
                return frame, loop
    caller = frame.caller
    if caller is None or frame.function is None or caller.stage.staged or not frame.has_made(value.serial):
        return None
    loops = host_loops(caller)
    if not loops or not comes_back(frame) or not comes_back(caller, loops[0]):
        return None
    return caller, loops[0]


def optimizer_in(value: Value, every: bool, depth: int = 3) -> ExternalObject | None:
    """The optimizer of optax that an argument is, or holds in a static field. `every`: or in any other field. An object may hold
    itself, so no more than `depth` of them are looked into."""
    if isinstance(value, ExternalObject):
        return value if value.name in _OPTIMIZERS else None
    if not isinstance(value, Instance) or depth == 0:
        return None
    declared = value.cls.all_fields()
    held = (
        optimizer_in(part, every, depth - 1)
        for name, part in value.fields.items()
        if every or (name in declared and declared[name].static)
    )
    return next((one for one in held if one is not None), None)


def loop_of_optimizers(made: ExternalObject, argument: ast.expr, frame: Frame) -> Loop | None:
    """The loop whose iterations each create an optimizer, and pass it, or an object that holds it, to the call as `argument`."""
    function, node = frame.function, made.node
    if not isinstance(argument, ast.Name) or function is None or node is None:
        return None
    for loop in host_loops(frame):
        for value in _assigned(loop.node, argument.id):
            if comes_back(frame, loop) and _creates(value, node, frame):
                return loop
    return None


@cache
def _assigned(loop: ast.AST, name: str) -> list[ast.expr]:
    """The values that each iteration of a loop assigns to a name, outside of its inner blocks."""
    return [
        statement.value
        for statement in getattr(loop, "body", [])
        if isinstance(statement, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == name for target in statement.targets)
    ]


def _creates(value: ast.AST, node: ast.AST, frame: Frame, depth: int = 3) -> bool:
    """Whether an expression contains the call `node`, or calls functions of the program that do."""
    for part in walk(value):
        if part is node:
            return True
        if not isinstance(part, ast.Call) or not isinstance(part.func, ast.Name) or depth == 0:
            continue
        called = frame.value_of(part.func.id)
        if (
            not isinstance(called, Function)
            or isinstance(called.node, ast.Lambda)
            or called.node.decorator_list
        ):
            continue
        if any(_creates(one, node, frame, depth - 1) for one in called.node.body):
            return True
    return False
