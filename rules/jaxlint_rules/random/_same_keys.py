"""Keys created from the same seed at each evaluation, and loop steps that receive one."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Frame, Loop
from jaxlint.api.syntax import all_parameters, cache, dotted, names_stored, nodes_of, walk
from jaxlint.api.values import Array, Function, Instance
from jaxlint_rules._loops import assigned_once, host_loops, is_few, loop_variables, rebound
from jaxlint_rules._names import last_name, names_in, passed, unpacked

_SEEDED = frozenset({"PRNGKey", "PRNGSequence", "Rngs"})
_RANDOM = frozenset({"random", "jr", "jrandom"})
_NEAR = 2  # calls between a loop and the step that a method runs on its object
_DEPTH = 3


def recreated_key(call: ast.Call, frame: Frame) -> tuple[ast.expr, Loop] | None:
    """The argument of a step that is a key with the same seed in each iteration, and the loop around the step.

    A step is a call that receives its own result again, `state = step(state, key)`: its draws accumulate.
    """
    loop = _stepping(call, frame)
    if loop is None:
        return None
    body = loop.node if loop in frame.loops or frame.function is None else frame.function.node
    if isinstance(body, ast.Lambda):
        return None
    given, bound = assigned_once(body), _bound(body)
    for argument in passed(call):
        made = given.get(argument.id, argument) if isinstance(argument, ast.Name) else argument
        if _is_same(made, frame, given, bound):
            return (made if made is not argument else argument), loop
    return None


def _stepping(call: ast.Call, frame: Frame) -> Loop | None:
    """The loop around `x = f(x, ...)`, or around a call of the method with `self.x = f(self.x, ...)`."""
    statement = frame.module.parents.get(call)
    if not isinstance(statement, ast.Assign):
        return None
    made = {dotted(part) for target in statement.targets for part in unpacked(target)}
    carried = made & {dotted(argument) for argument in call.args} - {""}
    if not carried:
        return None
    held = all(name.startswith("self.") for name in carried)
    for _ in range(_NEAR + 1):
        loop = next(iter(host_loops(frame)), None)
        if loop is not None:
            return loop if not frame.is_conditional_in(loop) and not is_few(loop, frame) else None
        if not held or frame.is_conditional() or frame.caller is None or frame.loops:
            return None
        frame = frame.caller
    return None


def repeated_data(event: CallEvent) -> tuple[ast.expr, Loop, str] | None:
    """The key of a draw that is created from the same seed in each iteration, the loop, and what makes its data: a function that
    the loop calls, with what no iteration changes, and whose result a step of the loop gets, `state = step(state, batch)`.
    """
    draw, frame = event.node, event.frame
    if frame.stage.staged or frame.is_in_test() or not isinstance(draw, ast.Call) or not draw.args:
        return None
    call, runner = draw, frame
    if not host_loops(frame):
        made = frame.call_node
        if frame.function is None or frame.caller is None or not isinstance(made, ast.Call):
            return None
        if frame.is_conditional():
            return None
        call, runner = made, frame.caller
    loop = next(iter(host_loops(runner)), None)
    if loop is None or is_few(loop, runner) or runner.is_conditional_in(loop):
        return None
    body = loop.node if runner is frame else frame.function.node if frame.function is not None else loop.node
    if isinstance(body, ast.Lambda) or not _is_same(draw.args[0], frame, assigned_once(body), _bound(body)):
        return None
    changing = names_stored(loop.node)
    others = [given for given in passed(call) if given is not draw.args[0]]
    if any(changing & names_in(given) or _calls(given) for given in (*others, call.func)):
        return None
    return (draw.args[0], loop, last_name(call.func)) if _feeds_step(call, loop.node, runner) else None


def _calls(given: ast.expr) -> bool:
    """Whether an argument calls something, and may change each time."""
    return any(isinstance(part, (ast.Call, ast.Starred, ast.Await)) for part in walk(given))


def _feeds_step(call: ast.Call, loop: ast.AST, frame: Frame) -> bool:
    """Whether a step of the loop gets the result of a call beside the state that it renews."""
    statement = frame.module.parents.get(call)
    data = names_stored(statement) if isinstance(statement, ast.Assign) else frozenset()
    for step in nodes_of(loop, ast.Assign):
        if not isinstance(step.value, ast.Call) or step is statement:
            continue
        given = {dotted(one) for one in passed(step.value)}
        renewed = {dotted(part) for target in step.targets for part in unpacked(target)} - {""}
        if renewed & given and (data & given or any(part is call for part in walk(step.value))):
            return True
    return False


def _bound(body: ast.AST) -> frozenset[str]:
    """The names that a loop body, or a function, binds each time."""
    bound = rebound(body) | loop_variables(body)
    if isinstance(body, (ast.FunctionDef, ast.AsyncFunctionDef)):
        bound |= {parameter.arg for parameter in all_parameters(body)}
    return frozenset(bound)


def _is_same(
    node: ast.expr, frame: Frame | None, given: dict[str, ast.expr], bound: frozenset[str], depth: int = 0
) -> bool:
    """Whether an expression is a key from a constant seed; `frame` is None inside a function that returns one."""
    if isinstance(node, ast.Name) and node.id in given and depth < _DEPTH:
        return _is_same(given[node.id], frame, given, bound, depth + 1)
    if isinstance(node, ast.Dict):  # of streams: `{"dropout": key}`
        return any(_is_same(value, frame, given, bound, depth + 1) for value in node.values)
    if not isinstance(node, ast.Call):
        return False
    owner, _, last = dotted(node.func).rpartition(".")
    if last == "next" and not owner and node.args:
        return _is_same(node.args[0], frame, given, bound, depth + 1)
    if last in _SEEDED or (last == "key" and owner.rpartition(".")[2] in _RANDOM):
        seeds = passed(node)
        return bool(seeds) and all(_stays(seed, bound) for seed in seeds)
    called = frame.value_of(last) if frame is not None and not owner and not node.args else None
    return isinstance(called, Function) and not node.keywords and _gives_same(called)


def _stays(seed: ast.expr, bound: frozenset[str]) -> bool:
    """A number, a name bound elsewhere, or the seed of a configuration."""
    if isinstance(seed, ast.Attribute):
        return "seed" in seed.attr.lower() and names_in(seed) <= (names_in(seed) - bound) | {"self"}
    return (isinstance(seed, ast.Constant) and isinstance(seed.value, int)) or (
        isinstance(seed, ast.Name) and seed.id not in bound
    )


def _gives_same(function: Function) -> bool:
    """Whether a function without arguments returns a key that it created from the same seed."""
    returns = list(nodes_of(function.node, ast.Return))  # none, of a lambda
    if len(returns) != 1 or returns[0].value is None or any(_leads_out(function.node)):
        return False
    body = _bound(function.node)
    return _is_same(returns[0].value, None, assigned_once(function.node), body)


def _leads_out(node: ast.AST) -> list[ast.AST]:
    """Expressions that may give another seed at each call."""
    return [*nodes_of(node, ast.Global), *nodes_of(node, ast.Nonlocal), *nodes_of(node, ast.AugAssign)]


def twin_key(event: CallEvent) -> str:
    """The key that an object draws from, if a loop collects objects that are created alike: `[Worker(key) for _ in
    range(n)]`."""
    node, made, frame = event.node, event.result, event.frame
    if not isinstance(node, ast.Call) or not isinstance(made, Instance) or not frame.loops:
        return ""
    loop = frame.loops[-1]
    if frame.stage.staged or frame.is_in_test() or frame.is_conditional_in(loop):
        return ""
    parent = frame.module.parents.get(node)
    collected = isinstance(parent, ast.ListComp) or (
        isinstance(parent, ast.Call) and last_name(parent.func) == "append"
    )
    given = passed(node)
    changing = _bound(loop.node) | {name for part in walk(loop.node) for name in _written(part)}
    if not collected or any(not changing.isdisjoint(names_in(argument)) for argument in given):
        return ""
    if any(isinstance(part, (ast.Call, ast.Starred)) for argument in given for part in walk(argument)):
        return ""  # it may give another key each time
    keys = (name for name, held in made.fields.items() if isinstance(held, Array) and held.role == "key")
    return next((name for name in keys if _draws_from(made.cls.node, name)), "")


def _written(node: ast.AST) -> tuple[str, ...]:
    """The names that a comprehension binds, or an assignment changes."""
    if isinstance(node, ast.comprehension):
        return tuple(part.id for part in walk(node.target) if isinstance(part, ast.Name))
    is_store = isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store)
    return (dotted(node).partition(".")[0],) if is_store else ()


@cache
def _draws_from(cls: ast.ClassDef, name: str) -> bool:
    """Whether a method of a class draws from the key in an attribute, or splits it."""
    return any(
        dotted(argument) == f"self.{name}"
        and dotted(call.func).rpartition(".")[0].rpartition(".")[2] in _RANDOM
        for method in cls.body
        if isinstance(method, ast.FunctionDef) and method.name not in ("__init__", "__post_init__")
        for call in nodes_of(method, ast.Call)
        for argument in call.args[:1]
    )
