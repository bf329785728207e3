"""The other holders of a variable's arrays: whether a function may donate the arrays that it received.

    def fit(params, batches):
        state = (params, optimizer.init(params))
        for batch in batches:
            state = step(state, batch)  # donating would delete the `params` of whoever called `fit`

A function owns the arrays that it created. It owns a parameter only if its callers visibly do not need it any
more: they rebind it in the call, or never read it again. The owner of an argument also owns arrays that a
call may return unchanged.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from jaxlint.api import Frame
from jaxlint.api.syntax import (
    FunctionNode,
    all_parameters,
    cache,
    dead_after,
    dotted,
    is_script,
    names_stored,
    own_nodes,
    parse_expression,
)
from jaxlint.api.values import ClassValue, Function, Transformed, constant
from jaxlint_rules._callables import named_or_method
from jaxlint_rules._names import external_name, last_name, names_in, passed, unpacked

_DEPTH = 6  # callers, and functions that pass arrays on
_DISPLAYS = (ast.Tuple, ast.List, ast.Set)
_MAKERS = frozenset({"replace", "_replace", "create", "copy", "dict", "tuple", "list", "freeze", "unfreeze"})
# Library functions that return the buffers of their arguments if nothing needs to be computed.
_SHARING = frozenset(
    """jax.numpy.asarray jax.device_put flax.core.freeze flax.core.unfreeze flax.core.FrozenDict copy.copy dataclasses.replace
    equinox.partition equinox.combine equinox.filter equinox.tree_at flax.nnx.split flax.nnx.merge""".split()  # noqa: SIM905
)
_HOLDING = frozenset({"append", "add", "insert", "setdefault", "put", "extend"})


def is_kept(place: str, call: ast.Call, frame: Frame) -> bool:
    """Whether code outside the function may still read the arrays in `place` when `call` is first reached.

    `call`: the call that rebinds `place` to its result.
    """
    owner, _, name = place.partition(".")
    function = frame.function
    if owner == "self" and function is not None:
        return function.cls is not None and _is_shown(function.cls, name, function)
    node = parse_expression(place)
    return _is_others(node, call, frame, 0)


def _is_shown(cls: ClassValue, name: str, stepping: Function) -> bool:
    """Whether a method passes an attribute of its object to other code: it stores it in another object, or
    returns it, alone or in a container or an object. The return value of the stepping method itself is the
    result of its last step and does not count.
    """
    for method in (one for known in cls.mro() for one in known.namespace.values()):
        if isinstance(method, Function):
            returned, stored = _shown_by(method.node)
            if name in stored or (name in returned and method.node is not stepping.node):
                return True
    return False


@cache
def _shown_by(method: FunctionNode) -> tuple[frozenset[str], frozenset[str]]:
    """The attributes of `self` that a method returns, and those that it stores elsewhere."""
    returned: set[str] = set()
    stored: set[str] = set()
    for node in own_nodes(method) if not isinstance(method, ast.Lambda) else ():
        for part in (one for value in _given_away(node) for one in _inside(value)):
            owner, _, name = dotted(part).partition(".")
            if owner == "self" and name:
                (returned if isinstance(node, ast.Return) else stored).add(name)
    return frozenset(returned), frozenset(stored)


def _given_away(node: ast.AST) -> list[ast.expr]:
    """The expressions that a statement returns, or stores in something other than a variable."""
    if isinstance(node, (ast.Return, ast.Yield)):
        return [node.value] if node.value is not None else []
    if isinstance(node, ast.Assign):
        kept = any(isinstance(target, (ast.Attribute, ast.Subscript)) for target in node.targets)
        return [node.value] if kept else []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _HOLDING:
        return node.args
    return []


def _inside(node: ast.expr) -> Iterator[ast.expr]:
    """The places in a value; for a new object, those of its parts."""
    if isinstance(node, ast.Call) and (last_name(node.func)[:1].isupper() or last_name(node.func) in _MAKERS):
        for part in passed(node):
            yield from _inside(part)
        return
    yield from _held_by(node)


@cache
def rebound_later(statement: ast.Assign, owner: FunctionNode | ast.Module) -> frozenset[str]:
    """The variables that a call reads and that get its result in a later statement, with no read in between:
    `new = step(params, batch)`, and then `params = new`.
    """
    made = {
        part.id for target in statement.targets for part in unpacked(target) if isinstance(part, ast.Name)
    }
    if isinstance(owner, ast.Lambda):
        return frozenset()
    dead = dead_after(owner).get(statement, frozenset())
    if not dead or not made:
        return frozenset()
    return frozenset(
        part.id
        for child in own_nodes(owner)
        if isinstance(child, ast.Assign) and child.lineno > statement.lineno and made & names_in(child.value)
        for target in child.targets
        for part in unpacked(target)
        if isinstance(part, ast.Name) and part.id in dead
    )


def _is_of(node: ast.expr, place: str) -> bool:
    """Whether an expression is `place` or a part of it, which is donated with the whole: `state.time` of `state`."""
    return f"{dotted(node)}.".startswith(f"{place}.")


def is_stored(place: str, frame: Frame) -> bool:
    """Whether the function stores the value of `place` elsewhere, before or in the loop around a frame: `best
    = params`, `history.append(params)`.

    After the loop, only the last value is stored, which no step of this loop receives.
    """
    owner, loop = frame.owner, next((one.node for one in reversed(frame.loops)), None)
    end = getattr(loop, "end_lineno", None) or getattr(owner, "end_lineno", 0) or math.inf
    for child in own_nodes(owner) if not isinstance(owner, ast.Lambda) else ():
        if getattr(child, "lineno", 0) > end:
            continue
        if isinstance(child, ast.Assign):
            targets = {dotted(part) for target in child.targets for part in unpacked(target)}
            if place not in targets and any(_is_of(part, place) for part in _held_by(child.value)):
                return True
        elif isinstance(child, ast.Call) and isinstance(child.func, ast.Attribute):
            held = [part for argument in child.args for part in _held_by(argument)]
            if child.func.attr in _HOLDING and any(_is_of(part, place) for part in held):
                return True
    return False


def _is_others(node: ast.expr, call: ast.AST, frame: Frame, depth: int) -> bool:
    """Whether an expression may hold arrays that a caller of the frame's function still reads after `call`."""
    function = frame.function
    if depth > _DEPTH or function is None or isinstance(function.node, ast.Lambda):
        return False
    return any(
        _is_callers(name, frame, depth)
        for name in _parameters_in(node, call, function.node, frame, frozenset())
    )


def _parameters_in(
    node: ast.expr, call: ast.AST, function: FunctionNode, frame: Frame, seen: frozenset[str]
) -> Iterator[str]:
    """The parameters of a function whose arrays an expression may hold."""
    for part in _held_by(node, frame):
        root = dotted(part).partition(".")[0]
        if not root or root in seen or root == "self":
            continue
        given = [value for value in _bindings(function).get(root, ()) if not _within(call, value)]
        parameters = {parameter.arg for parameter in all_parameters(function)}
        if root in parameters and not _is_replaced(root, call, function, frame):
            yield root
        for value in given:
            yield from _parameters_in(value, call, function, frame, seen | {root})


def _is_callers(name: str, frame: Frame, depth: int) -> bool:
    """Whether the caller of a frame may read again the argument that it passed as the parameter `name`."""
    caller, node = frame.caller, frame.call_node
    assert frame.function is not None
    if caller is None or not frame.is_called() or not isinstance(node, ast.Call):
        return _serves_others(frame)
    given = _argument(name, node, frame.function.node)
    if given is None:
        return False
    statement = next((above for above in caller.module.ancestors(node) if isinstance(above, ast.stmt)), None)
    for part in _held_by(given, caller):
        place = dotted(part)
        if place and statement is not None:
            if _is_read_after(place, node, statement, caller):
                return True
            if _is_others(part, node, caller, depth + 1):
                return True
    return False


def _serves_others(frame: Frame) -> bool:
    """Whether a function is for users of a package: its callers are not visible, and may keep their arguments."""
    module, function = frame.module, frame.function
    assert function is not None
    private = function.name.startswith("_") and not function.name.endswith("__")
    return bool(module.package) and not private and not is_script(module.tree)


def _is_read_after(place: str, call: ast.Call, statement: ast.stmt, frame: Frame) -> bool:
    """Whether the caller reads a place after a call, whose statement does not rebind it."""
    if isinstance(statement, ast.Assign):
        if place in {dotted(part) for target in statement.targets for part in unpacked(target)}:
            return False
    if not _is_local(place, frame):
        return True  # others read it
    if isinstance(statement, ast.Return):
        return False
    if any(loop.node is above for loop in frame.loops for above in frame.module.ancestors(statement)):
        return True  # the next iteration passes it again
    end = (call.end_lineno or call.lineno, call.end_col_offset or 0)
    return any(
        isinstance(child, (ast.Name, ast.Attribute))
        and isinstance(child.ctx, ast.Load)
        and (child.lineno, child.col_offset) > end
        and dotted(child) == place
        for child in ast.walk(frame.owner)
    )


def _is_local(place: str, frame: Frame) -> bool:
    """Whether a place is, or is part of, a variable of the frame's own body."""
    root, function = place.partition(".")[0], frame.function
    if function is None:
        return True
    names = {parameter.arg for parameter in all_parameters(function.node)} - {"self", "cls"}
    return root in names or root in names_stored(function.node)


def _held_by(node: ast.expr, frame: Frame | None = None) -> Iterator[ast.expr]:
    """The places whose arrays the value of an expression may hold, without a copy."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        yield node
    elif isinstance(node, ast.Subscript):
        yield from _held_by(node.value, frame)
    elif isinstance(node, _DISPLAYS):
        for part in node.elts:
            yield from _held_by(part, frame)
    elif isinstance(node, ast.Dict):
        for value in node.values:
            yield from _held_by(value, frame)
    elif isinstance(node, (ast.Starred, ast.NamedExpr)):
        yield from _held_by(node.value, frame)
    elif isinstance(node, ast.IfExp):
        yield from _held_by(node.body, frame)
        yield from _held_by(node.orelse, frame)
    elif isinstance(node, ast.BoolOp):
        for part in node.values:
            yield from _held_by(part, frame)
    elif isinstance(node, ast.Call) and frame is not None:
        for part in _handed_back(node, frame):
            yield from _held_by(part, frame)


def _handed_back(call: ast.Call, frame: Frame) -> list[ast.expr]:
    """The arguments of a call that its result may hold."""
    if name := external_name(call.func, frame.scope):
        return passed(call) if name in _SHARING else []
    callee = named_or_method(call.func, frame)
    if isinstance(callee, ClassValue):
        return passed(call)
    if isinstance(callee, Function) and not isinstance(callee.node, ast.Lambda):
        back = _returned(callee.node)
        found = [_argument(name, call, callee.node) for name in sorted(back)]
        return [part for part in found if part is not None]
    if callee is None and last_name(call.func) in _MAKERS:
        receiver = [call.func.value] if isinstance(call.func, ast.Attribute) else []
        return [*receiver, *passed(call)]
    return []


@cache
def _returned(function: FunctionNode) -> frozenset[str]:
    """The parameters that a function may return, unchanged or inside a new object."""
    assert not isinstance(function, ast.Lambda)
    bound, names = _bindings(function), {parameter.arg for parameter in all_parameters(function)}
    found: set[str] = set()
    waiting = [node.value for node in own_nodes(function) if isinstance(node, ast.Return) and node.value]
    seen: set[str] = set()
    while waiting:
        for part in _held_by(waiting.pop()):
            root = dotted(part).partition(".")[0]
            if root and root not in seen:
                seen.add(root)
                waiting.extend(bound.get(root, ()))
                if root in names and (isinstance(part, ast.Name) or root != "self"):
                    found.add(root)
    return frozenset(found - {"self", "cls"})


@cache
def _bindings(function: FunctionNode) -> dict[str, list[ast.expr]]:
    """The values that a function's body assigns to its variables; of an unpacked value, the whole."""
    found: dict[str, list[ast.expr]] = {}
    if isinstance(function, ast.Lambda):
        return found
    for node in own_nodes(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                for part, value in _pairs(target, node.value):
                    if isinstance(part, ast.Name):
                        found.setdefault(part.id, []).append(value)
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            if isinstance(node.target, ast.Name):
                found.setdefault(node.target.id, []).append(node.value)
    return found


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """`a, b = x, y` by parts; otherwise each part with the whole value."""
    parts = unpacked(target)
    if isinstance(value, _DISPLAYS) and len(parts) == len(value.elts) > 1:
        return list(zip(parts, value.elts, strict=True))
    return [(part, value) for part in parts]


def _is_replaced(name: str, call: ast.AST, function: FunctionNode, frame: Frame) -> bool:
    """Whether the function's body, before the statement around `call` and under no condition, binds the parameter to
    something new."""
    assert not isinstance(function, ast.Lambda)
    for statement in function.body:
        if _within(statement, call):
            return False
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                for part, value in _pairs(target, statement.value):
                    held = {dotted(one).partition(".")[0] for one in _held_by(value, frame)}
                    if dotted(part) == name and name not in held:
                        return True
    return False


def _within(around: ast.AST, node: ast.AST) -> bool:
    return any(part is node for part in ast.walk(around))


def _argument(name: str, call: ast.Call, function: FunctionNode) -> ast.expr | None:
    """The argument that a call passes as a parameter."""
    named = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
    if named is not None:
        return named
    parameters = [parameter.arg for parameter in all_parameters(function)]
    if parameters[:1] in (["self"], ["cls"]):
        parameters = parameters[1:]
    position = parameters.index(name) if name in parameters else len(call.args)
    if position >= len(call.args) or any(isinstance(part, ast.Starred) for part in call.args[: position + 1]):
        return None
    return call.args[position]


def donated_arguments(transformed: Transformed) -> frozenset[int | str] | None:
    """The positions and names that a jit donates; None if they are not written down, or are all."""
    found: set[int | str] = set()
    for option, given in transformed.options.items():
        if option == "**" or (option.startswith("donate") and transformed.kind != "jit"):
            return None
        if option.startswith("donate"):
            told = constant(given)
            parts = told if isinstance(told, tuple) else (told,)
            if not all(type(part) is str or (type(part) is int and part >= 0) for part in parts):
                return None
            found.update(parts)
    return frozenset(found)
