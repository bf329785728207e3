"""Whether an expression changes in each loop iteration: it is computed from a counter, here or in a function."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from jaxlint.api import Frame, Loop
from jaxlint.api.syntax import cache, dotted, names_stored, nodes_of, walk
from jaxlint.api.values import ClassValue, Function
from jaxlint_rules._callables import named_or_method
from jaxlint_rules._loops import (
    assigned_once,
    counters,
    decaying,
    given_arguments,
    growing,
    host_loops,
)
from jaxlint_rules._names import last_name, passed

_DEPTH = 4  # names and functions between an argument and the counter
_NEAR = 2  # calls between a loop and the argument
_UNEVEN = re.compile(r"prompt|sentence|text|document|paragraph")  # rows of arbitrary length
_NUMBERS = frozenset({"float", "int", "round", "abs", "str"})
_SMOOTH = frozenset({"cos", "sin", "exp", "log", "sqrt", "pow", "tanh", "float32", "float64"})
_STEPS = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_LIBRARIES = frozenset({"math", "np", "numpy"})


@dataclass(frozen=True, slots=True)
class _Names:
    """The names that change between iterations, and the values of names, at an expression."""

    changing: frozenset[str]
    given: dict[str, ast.expr]
    frame: Frame | None  # the scope to look functions up in; None inside a function


def follows(node: ast.expr, loop: ast.AST, frame: Frame) -> str:
    """The name that makes an expression differ in each iteration; "" if it may take few values."""
    if isinstance(node, ast.Call) and dotted(node.func) == "len":
        name = dotted(node.args[0]) if node.args else ""
        target = getattr(loop, "target", None)
        uneven = isinstance(target, ast.Name) and target.id == name and _UNEVEN.search(name)
        return f"len({name})" if name in growing(loop) or uneven else ""
    changing = counters(loop) | decaying(loop) | _stepped(loop)
    return _follows(node, _Names(changing, assigned_once(loop), frame))


def follows_calls(node: ast.expr, frame: Frame) -> str:
    """The counter attribute of `self` that makes an expression differ in each call of its method."""
    assert frame.function is not None
    method = frame.function.node
    counts = frozenset(path for path in _stepped(method) if path.startswith("self."))
    return _follows(node, _Names(counts, assigned_once(method), frame)) if counts else ""


def follows_callers(node: ast.expr, frame: Frame) -> tuple[str, Loop] | None:
    """What makes an expression differ between the calls of its function by a loop above, and that loop: it is computed
    from a parameter. The function may have a loop of its own, as over the batches of an epoch."""
    for _ in range(_NEAR):
        function, caller, call = frame.function, frame.caller, frame.call_node
        if function is None or caller is None or not isinstance(call, ast.Call):
            return None
        if isinstance(function.node, ast.Lambda):
            return None
        if caller.stage.staged or not all(map(_is_of_settings, frame.conditions())):
            return None
        kept = names_stored(function.node)
        given = {p: a for p, a in given_arguments(function.node, call) if p and p not in kept}
        parameter = _follows(node, _Names(frozenset(given), assigned_once(function.node), frame))
        if not parameter:
            return None
        node, frame = given[parameter], caller
        for loop in host_loops(frame):
            if frame.is_conditional_in(loop):
                return None
            name = follows(node, loop.node, frame)
            if name:
                return name, loop
    return None


def _is_of_settings(condition: ast.AST) -> bool:
    """Whether code is under an `if` that asks for an option: `if train:`, `if mode == "train":`."""
    test = condition.test if isinstance(condition, ast.If) else None
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.comparators[0], ast.Constant):
        test = test.left if isinstance(test.comparators[0].value, (str, type(None))) else None
    return isinstance(test, (ast.Name, ast.Attribute))


@cache
def _stepped(body: ast.AST) -> frozenset[str]:
    """Attributes that a body updates from their own value: `self.step += 1`, `state = replace(state, t=state.t +
    dt)`."""
    found: set[str] = set()
    for statement in nodes_of(body, ast.AugAssign):
        if isinstance(statement.target, ast.Attribute) and isinstance(statement.op, _STEPS):
            found.add(dotted(statement.target))
    for assignment in nodes_of(body, ast.Assign):
        holders = tuple(f"{dotted(target)}." for target in assignment.targets if dotted(target))
        for part in walk(assignment.value):
            if isinstance(part, ast.BinOp) and isinstance(part.op, _STEPS):
                for operand in (part.left, part.right):
                    path = dotted(operand) if isinstance(operand, ast.Attribute) else ""
                    if path and f"{path}.".startswith(holders):
                        found.add(path)
    return frozenset(found) - {""}


def _follows(node: ast.expr, names: _Names, depth: int = 0) -> str:
    if depth > _DEPTH:
        return ""
    if isinstance(node, ast.Attribute):
        path = dotted(node)
        return path if path in names.changing else ""
    if isinstance(node, ast.Name):
        if node.id in names.changing:
            return node.id
        bound = names.given.get(node.id)
        return _follows(bound, names, depth + 1) if bound is not None else ""
    if isinstance(node, ast.BinOp) and not isinstance(node.op, (ast.Mod, ast.FloorDiv)):
        return _any_follows([node.left, node.right], names, depth)
    if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
        return _follows(node.operand, names, depth)
    if isinstance(node, ast.JoinedStr):
        parts = [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
        return _any_follows(parts, names, depth)
    if isinstance(node, ast.Call):
        if draws_a_real(node):
            return dotted(node.func)
        return _any_follows(list(_arguments_that_matter(node, names, depth)), names, depth + 1)
    return ""


# Host functions that give another real number at each call; draws of integers may take few values.
_REALS = frozenset(
    """uniform random random_sample rand randn normal standard_normal normalvariate gauss exponential expovariate lognormal
    lognormvariate beta betavariate gamma gammavariate triangular vonmises suggest_float suggest_uniform suggest_loguniform""".split()  # noqa: SIM905
)
_CLOCKS = frozenset({"time.time", "time.perf_counter", "time.monotonic"})
_OF_JAX = re.compile(r"(^|\.)(jax|jr|jrandom|jnp|nnx|numpyro|dist|tfd)(\.|$)")


def draws_a_real(call: ast.Call) -> bool:
    """Whether a call draws a real number on the host, or reads a clock."""
    name = dotted(call.func)
    holder, _, last = name.rpartition(".")
    if name in _CLOCKS:
        return True
    sized = any(one.arg in ("size", "shape") for one in call.keywords)
    return last in _REALS and bool(holder) and not sized and not _OF_JAX.search(holder)


def _any_follows(nodes: list[ast.expr], names: _Names, depth: int) -> str:
    return next((name for node in nodes if (name := _follows(node, names, depth))), "")


def _arguments_that_matter(call: ast.Call, names: _Names, depth: int) -> Iterator[ast.expr]:
    """The arguments of a call whose different values give different results."""
    name = dotted(call.func)
    library, _, last = name.rpartition(".")
    if name in _NUMBERS or library == "optax" or (library in _LIBRARIES and last in _SMOOTH):
        yield from call.args
    elif name in ("max", "min"):
        yield from (argument for argument in call.args if _is_schedule(argument))
    elif last in ("replace", "_replace") and call.keywords:
        yield from (keyword.value for keyword in call.keywords)
    elif names.frame is not None:
        called = named_or_method(call.func, names.frame)
        if isinstance(called, ClassValue):
            yield from passed(call)
        elif isinstance(called, Function):
            given = given_arguments(called.node, call)
            moving = {p: a for p, a in given if p and _follows(a, names, depth + 1)}
            results = _returned(called.node) if moving else []
            inside = _Names(frozenset(moving), assigned_once(called.node), None)
            name = _any_follows(results, inside, depth + 1)
            if name:
                yield moving[name]


def fields_given(node: ast.expr, loop: ast.AST, frame: Frame) -> dict[str, ast.expr]:
    """The fields of a new object in an iteration: `Source(flux, x)`, `source.replace(x=i)`, `eqx.tree_at(...)`."""
    if isinstance(node, ast.Name):
        found: dict[str, ast.expr] = {}
        for assignment in _always(loop):
            if any(isinstance(target, ast.Name) and target.id == node.id for target in assignment.targets):
                found |= _fields_of_made(assignment.value, frame)
        return found
    return _fields_of_made(node, frame)


def attributes_stepped(node: ast.expr, loop: ast.AST, frame: Frame) -> Iterator[tuple[str, str]]:
    """The attributes of an object that each iteration sets, here or in a function that receives the object,
    to a value computed from a counter; with the name of the counter.
    """
    owner = dotted(node)
    for assignment in _always(loop):
        for name in _attributes_of(owner, assignment):
            followed = follows(assignment.value, loop, frame)
            if followed:
                yield name, followed
    for statement in getattr(loop, "body", ()):
        call = statement.value if isinstance(statement, ast.Expr) else None
        called = named_or_method(call.func, frame) if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or not isinstance(called, Function):
            continue
        given = [(p, a) for p, a in given_arguments(called.node, call) if p]
        moving = {p: name for p, a in given if (name := follows(a, loop, frame))}
        inside = _Names(frozenset(moving), assigned_once(called.node), None)
        for parameter in [p for p, a in given if dotted(a) == owner] if moving else ():
            for assignment in _always(called.node):
                for name in _attributes_of(parameter, assignment):
                    followed = _follows(assignment.value, inside)
                    if followed:
                        yield name, moving[followed]


def _attributes_of(owner: str, assignment: ast.Assign) -> Iterator[str]:
    for target in assignment.targets:
        if isinstance(target, ast.Attribute) and owner and dotted(target.value) == owner:
            yield target.attr


@cache
def _always(loop: ast.AST) -> tuple[ast.Assign, ...]:
    """The unconditional assignments of an iteration."""
    return tuple(statement for statement in getattr(loop, "body", ()) if isinstance(statement, ast.Assign))


def _fields_of_made(bound: ast.expr, frame: Frame) -> dict[str, ast.expr]:
    if not isinstance(bound, ast.Call):
        return {}
    last = last_name(bound.func)
    if last in ("replace", "_replace"):
        return {keyword.arg: keyword.value for keyword in bound.keywords if keyword.arg}
    if last == "tree_at" and bound.args and isinstance(bound.args[0], ast.Lambda):
        changed, new = bound.args[0].body, (bound.args[2:] or [k.value for k in bound.keywords])
        return {changed.attr: new[0]} if isinstance(changed, ast.Attribute) and len(new) == 1 else {}
    called = named_or_method(bound.func, frame)
    if not isinstance(called, ClassValue) or called.lookup("__init__") is not None:
        return {}
    given = dict(zip(called.all_fields(), bound.args, strict=False))
    return given | {keyword.arg: keyword.value for keyword in bound.keywords if keyword.arg}


def _is_schedule(node: ast.expr) -> bool:
    """A number with a bound that is reached late, as in `max(0.1, rate**step)`, unlike `min(step, 3)`."""
    return any(isinstance(n, ast.BinOp) and isinstance(n.op, (ast.Pow, ast.Div)) for n in walk(node))


def _returned(function: ast.AST) -> list[ast.expr]:
    """What a function may return: one of several results that follows a counter, such as a warm-up, is enough."""
    body = getattr(function, "body", None)
    if isinstance(body, ast.expr):
        return [body]
    return [part.value for part in nodes_of(function, ast.Return) if part.value is not None]
