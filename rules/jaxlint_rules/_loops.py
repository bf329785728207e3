"""The loops around a place: which names change between iterations, and how."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TypeGuard

from jaxlint.api import Frame, Loop, Module
from jaxlint.api.syntax import FunctionNode, all_parameters, cache, dotted, names_stored, nodes_of, walk
from jaxlint.api.values import constant
from jaxlint_rules._names import last_name, names_in
from jaxlint_rules._programs import READING_METHODS, is_on_host, runs_on_host

_NEAR = 2  # calls between a loop and a place in its body
FEW = 4  # loops with fewer iterations do not matter
SHORT = 8  # iterations that one compiled program for all of them does not make noticeably faster
BRIEF = 32  # iterations of a loop that runs once, whose waits and dispatches do not matter
_WRAPPERS = frozenset({"tqdm", "trange", "track", "progress_bar"})
# Functions that create arrays of a given size.
SIZED = frozenset({"zeros", "ones", "empty", "full", "arange", "eye", "linspace"})
_WITHOUT_LOOP = frozenset({"scan", "fori_loop", "while_loop", "vmap"})
GROWING = frozenset({"concatenate", "append", "vstack", "hstack", "concat", "column_stack", "row_stack"})


def host_loops(frame: Frame, comprehensions: bool = False) -> list[Loop]:
    """The `for` and `while` loops of a frame, innermost first, with enough iterations to matter."""
    return [
        loop
        for loop in reversed(frame.loops)
        if (comprehensions or loop.kind != "comprehension") and not is_short(loop)
    ]


def bodies(frame: Frame) -> Iterator[tuple[Loop, ast.AST]]:
    """The loops that run a place in every iteration, with the code that each runs: its body, or the function that it
    calls."""
    for loop in host_loops(frame):
        if frame.is_conditional_in(loop):
            return
        yield loop, loop.node
    called = called_in_loop(frame)
    if called is not None and frame.function is not None:
        yield called[0], frame.function.node


def called_in_loop(
    frame: Frame, passes: Callable[[ast.AST], bool] = lambda condition: False
) -> tuple[Loop, Frame] | None:
    """The host loop that runs the whole of a function in every iteration, one or two calls above a place outside of
    loops, and the frame of the function that it calls. `passes`: whether most iterations meet a condition."""
    within = frame.function
    for _ in range(_NEAR):
        caller = frame.caller
        if frame.loops or within is None or (isinstance(within.node, ast.Lambda) and not _is_named(frame)):
            return None
        if caller is None or caller.stage.staged or not all(map(passes, frame.conditions())):
            return None
        around = next(iter(host_loops(caller)), None)
        if around is not None and all(map(passes, caller.conditions(around))):
            return around, frame
        frame = caller
    return None


def _is_named(frame: Frame) -> bool:
    """Whether the caller calls a function by a name: `apply(params, x)`, not `map(lambda x: ..., xs)`."""
    call, caller = frame.call_node, frame.caller
    name = dotted(call.func) if isinstance(call, ast.Call) else ""
    held = caller.value_of(name) if name and caller is not None else None
    return held is not None and getattr(held, "node", None) is frame.owner


def name_of_step(frame: Frame) -> str:
    """The function that a loop around the callers of a place calls in every iteration; "" if there is none."""
    called = called_in_loop(frame)
    if called is None or called[1].function is None:
        return ""
    call = called[1].call_node
    if isinstance(called[1].owner, ast.Lambda) and isinstance(call, ast.Call):
        return dotted(call.func)
    return called[1].function.name


def frame_of_loop(loop: Loop, frame: Frame) -> Frame:
    """The frame that runs a loop: this one, or a caller."""
    return next((one for one in (frame, *frame.callers()) if loop in one.loops), frame)


def line_of_loop(loop: ast.AST) -> int | str:
    """The line of a loop, or of the variables of a comprehension; "?" if it has none."""
    line = getattr(loop, "lineno", None) or getattr(getattr(loop, "target", None), "lineno", None)
    return line if isinstance(line, int) else "?"


def place_of_loop(loop: Loop, frame: Frame) -> str:
    """Where a loop of this frame or of a caller is, in words."""
    runner, line = frame_of_loop(loop, frame), line_of_loop(loop.node)
    return f"the loop at {f'line {line}' if runner.module is frame.module else f'{runner.module.display}:{line}'}"


def is_few(loop: Loop, frame: Frame) -> bool:
    """Whether a loop has few iterations, and not because of one caller's argument."""
    iterable = getattr(loop.node, "iter", None)
    if loop.trips is None or loop.trips > FEW or iterable is None:
        return False
    return loop.trips == 1 or not is_given(iterable, frame)


def is_brief(loop: Loop, frame: Frame) -> bool:
    """Whether the program runs a loop once, with a known, small number of iterations: each cost is paid a few
    times.

    A number that one caller passes does not count.
    """
    around = frame
    while loop not in around.loops and around.caller is not None:
        around = around.caller
    if isinstance(loop.node, ast.While):
        return 0 < most_turns(loop.node, around) <= BRIEF and is_entered_once(around)
    iterable = getattr(loop.node, "iter", None)
    if loop.trips is None or loop.trips > BRIEF or iterable is None:
        return False
    return is_entered_once(around) and not is_given(iterable, around)


def most_turns(loop: ast.While, frame: Frame) -> int:
    """The bound that the test of a `while` sets to a counter, `while error > 1e-6 and n < 20`; 0 if it sets none."""
    tests = (
        loop.test.values
        if isinstance(loop.test, ast.BoolOp) and isinstance(loop.test.op, ast.And)
        else [loop.test]
    )
    counted = {
        dotted(step.target)
        for step in nodes_of(loop, ast.AugAssign)
        if isinstance(step.op, ast.Add) and isinstance(step.value, ast.Constant)
    }
    for test in tests:
        if (
            isinstance(test, ast.Compare)
            and len(test.ops) == 1
            and isinstance(test.ops[0], (ast.Lt, ast.LtE))
        ):
            if dotted(test.left) in counted:
                bound = test.comparators[0]
                held = frame.value_of(dotted(bound)) if dotted(bound) else None
                number = (
                    bound.value
                    if isinstance(bound, ast.Constant)
                    else constant(held)
                    if held is not None
                    else None
                )
                if isinstance(number, int) and names_in(bound).isdisjoint(_parameters(frame)):
                    return number
    return 0


def is_tried_out(loop: Loop, frame: Frame) -> bool:
    """Whether the program itself runs the loop once or twice, counted from the body of its module."""
    return loop.trips is not None and loop.trips <= 2 and is_on_host(frame)


def is_short(loop: Loop) -> bool:
    """Whether the loop visibly has few iterations; a parameter that one caller sets low does not count."""
    iterable = getattr(loop.node, "iter", None)
    written = isinstance(iterable, (ast.Tuple, ast.List)) or (
        isinstance(iterable, ast.Call)
        and bool(iterable.args)
        and all(isinstance(argument, ast.Constant) for argument in iterable.args)
    )
    if any(_has_few(part) for part in _parts_of(iterable)) or is_retry(loop.node):
        return True
    return loop.trips == 1 or (written and loop.trips is not None and loop.trips <= FEW)


def has_few_turns(loop: Loop, frame: Frame) -> bool:
    """Whether a loop is known to have so few iterations that one compiled program in their place gains next to nothing. Rules on
    loops as such ask this; a compilation in each iteration costs more. What one caller passes counts up to `FEW`."""
    if is_short(loop) or (loop.trips is not None and loop.trips <= FEW):
        return True
    iterable = getattr(loop.node, "iter", None)
    if loop.trips is None or loop.trips > SHORT or iterable is None:
        return False
    return not is_given(iterable, frame)


def is_given(iterable: ast.expr | None, frame: Frame) -> bool:
    """Whether a parameter gives how often a loop runs, also by way of a variable, `bar = trange(steps)`: another caller may pass
    another."""
    if iterable is None or frame.function is None:
        return False
    names = names_in(iterable)
    if isinstance(iterable, ast.Name):
        held = [one.value for one in nodes_of(frame.owner, ast.Assign) if names & names_stored(one)]
        names = names.union(*map(names_in, held))
    return not names.isdisjoint(_parameters(frame))


def _parameters(frame: Frame) -> set[str]:
    return {p.arg for p in all_parameters(frame.function.node)} if frame.function is not None else set()


@cache
def is_retry(loop: ast.AST) -> bool:
    """Whether an iteration that does not fail is the last: `for attempt in range(5): try: fit(); break`."""
    waiting: list[ast.stmt] = list(getattr(loop, "body", []))
    leaves = False
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, ast.Try):
            waiting += [*statement.body, *statement.orelse]
        elif isinstance(statement, ast.With):
            waiting += statement.body
        elif isinstance(statement, (ast.Break, ast.Return)):
            leaves = True
        elif nodes_of(statement, ast.Continue):
            return False
    return leaves


def is_entered_once(frame: Frame) -> bool:
    """Whether the program reaches the innermost loop of a frame exactly once, as far as the analysis sees:
    from a module body, through no other loop.
    """
    return is_on_host(frame) and not frame.loops[:-1] and not any(caller.loops for caller in frame.callers())


def _parts_of(iterable: ast.expr | None) -> list[ast.expr]:
    """The iterables of a loop: those in `zip` and `enumerate`, the shortest of which ends it."""
    if isinstance(iterable, ast.Call) and last_name(iterable.func) in ("zip", "enumerate", "reversed"):
        return [part for argument in iterable.args for part in _parts_of(argument)]
    return [iterable] if iterable is not None else []


def _has_few(iterable: ast.expr) -> bool:
    """Whether it is a list or tuple display with few items."""
    return (
        isinstance(iterable, (ast.Tuple, ast.List))
        and len(iterable.elts) <= FEW
        and not any(isinstance(part, ast.Starred) for part in iterable.elts)
    )


_READS = frozenset(
    {"print", "float", "tqdm", "trange", "tqdm.tqdm", "tqdm.trange", "jax.device_get", "wandb.log"}
)
_READING_METHODS = (
    *(f".{name}" for name in sorted(READING_METHODS)),
    ".numpy",  # of a tensor of TensorFlow or PyTorch
    "._numpy",
)


def is_host_loop(loop: Loop, frame: Frame) -> bool:
    """Whether the program visibly runs a loop around `frame`, or the loop does what no trace would repeat."""
    return runs_on_host(frame) or loop.calls_jitted or _reads_numbers(loop.node)


@cache
def _reads_numbers(loop: ast.AST) -> bool:
    """Whether a loop prints, logs or fetches numbers, which is impossible at trace time."""
    names = [dotted(call.func) for call in nodes_of(loop, ast.Call)]
    return any(name in _READS or name.endswith(_READING_METHODS) for name in names)


def is_under_test(frame: Frame) -> bool:
    """Whether it, or a caller, is in a file of tests."""
    return any(one.module.is_test for one in (frame, *frame.callers()))


def loop_variables(loop: ast.AST) -> set[str]:
    """The names that a `for` binds."""
    return names_in(getattr(loop, "target", None))


@cache
def counters(loop: ast.AST) -> frozenset[str]:
    """Names that hold another number in each iteration: counters of `range` and `enumerate`, or incremented in the
    body."""
    found: set[str] = set()
    if isinstance(loop, (ast.For, ast.AsyncFor, ast.comprehension)):
        found |= _counted(loop.target, loop.iter)
    body = getattr(loop, "body", [])
    for statement in body:
        for child in walk(statement):
            if isinstance(child, ast.AugAssign) and isinstance(child.target, ast.Name):
                if isinstance(child.op, (ast.Add, ast.Sub, ast.Mult)) and isinstance(
                    child.value, ast.Constant
                ):
                    found.add(child.target.id)
    return frozenset(found) - {"_"}


def runs_once(node: ast.AST, loop: ast.AST, module: Module) -> bool:
    """Whether a test of the loop's number lets `node` run in one iteration only: the first, the last, or a given one."""
    if not isinstance(loop, (ast.For, ast.AsyncFor)):
        return False
    numbers = _counted(loop.target, loop.iter)
    inner = node
    for above in module.ancestors(node):
        if above is loop:
            return False
        if isinstance(above, (ast.If, ast.IfExp)):
            body = above.body if isinstance(above.body, list) else [above.body]
            if inner is not above.test and _holds_once(above.test, inner in body, numbers, loop.iter):
                return True
        inner = above
    return False


def _holds_once(test: ast.expr, outcome: bool, numbers: set[str], iterable: ast.expr) -> bool:
    """Whether `test` has this outcome for only one of the loop's numbers."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _holds_once(test.operand, not outcome, numbers, iterable)
    if isinstance(test, ast.Name):
        return not outcome and test.id in numbers  # `if i: ... else: here`
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or dotted(test.left) not in numbers:
        return False
    kind, bound = type(test.ops[0]), test.comparators[0]
    if kind in (ast.Eq, ast.NotEq):  # which holds for one number, or fails for only one
        return (kind is ast.Eq) is outcome
    if isinstance(bound, ast.Constant):
        return (kind, bound.value, outcome) in _FIRST
    if (
        not isinstance(bound, ast.BinOp)
        or not isinstance(bound.op, ast.Sub)
        or not _is_number(bound.right, 1)
    ):
        return False
    if ast.unparse(bound.left) not in _lengths(iterable):
        return False
    return (kind is ast.Lt and not outcome) or (kind is ast.GtE and outcome)


_FIRST = {(ast.Gt, 0, False), (ast.GtE, 1, False), (ast.Lt, 1, True), (ast.LtE, 0, True)}


def _is_number(node: ast.expr, number: int) -> bool:
    return isinstance(node, ast.Constant) and node.value == number


def _lengths(iterable: ast.expr) -> set[str]:
    """The expressions for the number of iterations: `n` and `len(xs)` for `range(n)` and `enumerate(xs)`."""
    if not isinstance(iterable, ast.Call) or not iterable.args:
        return set()
    last = last_name(iterable.func)
    if last in _WRAPPERS and last != "trange":
        return _lengths(iterable.args[0])
    if last == "enumerate":
        return {f"len({ast.unparse(iterable.args[0])})"}
    return {ast.unparse(iterable.args[0])} if len(iterable.args) == 1 else set()


def _counted(target: ast.expr, iterable: ast.expr) -> set[str]:
    if not isinstance(iterable, ast.Call):
        return set()
    last = last_name(iterable.func)
    if ((last in _WRAPPERS and last != "trange") or last == "reversed") and iterable.args:
        return _counted(target, iterable.args[0])
    if last in ("range", "trange", "count", "arange", "linspace", "logspace", "geomspace"):
        return {target.id} if isinstance(target, ast.Name) else set()
    if last == "enumerate" and isinstance(target, ast.Tuple) and isinstance(target.elts[0], ast.Name):
        return {target.elts[0].id}
    return set()


@cache
def has_other_way(loop: ast.AST, module: Module) -> bool:
    """Whether a setting chooses between the loop and an equivalent `scan` or `vmap`: both are written."""
    inner = loop
    for above in module.ancestors(loop):
        if isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return False
        if isinstance(above, ast.If):
            other = above.orelse if inner in above.body else above.body
            calls = (part for one in other for part in walk(one) if isinstance(part, ast.Call))
            if any(last_name(call.func) in _WITHOUT_LOOP for call in calls):
                return True
        inner = above
    return False


@cache
def decaying(loop: ast.AST) -> frozenset[str]:
    """Names that each iteration updates from their own value: `tau *= decay`, `tau = max(low, tau * 0.97)`."""
    found: set[str] = set()
    for statement in getattr(loop, "body", []):
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            if isinstance(statement.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)):
                found.add(statement.target.id)
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, value = statement.targets[0], statement.value
            bounded = isinstance(value, ast.Call) and dotted(value.func) in ("max", "min")
            steps = value.args if isinstance(value, ast.Call) and bounded else [value]
            if isinstance(target, ast.Name) and any(_steps(step, target.id, bounded) for step in steps):
                found.add(target.id)
    return frozenset(found)


def _steps(node: ast.expr, name: str, bounded: bool) -> bool:
    """`name - step`, `0.97 * name`. With a bound, only scaling by a fraction gives many values."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)):
        return False
    others = [part for part in (node.left, node.right) if dotted(part) != name]
    if len(others) != 1:
        return False
    if not bounded:
        return True
    fraction = isinstance(others[0], ast.Constant) and isinstance(others[0].value, float)
    return isinstance(node.op, ast.Mult) and (fraction or isinstance(others[0], (ast.Name, ast.Attribute)))


@cache
def rebound(loop: ast.AST) -> frozenset[str]:
    """Names that the body binds."""
    return frozenset(
        child.id
        for statement in getattr(loop, "body", [])
        for child in walk(statement)
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store)
    )


@cache
def growing(loop: ast.AST) -> frozenset[str]:
    """Names of arrays, lists and dicts that grow in each iteration."""
    found: set[str] = set()
    fresh: set[str] = set()
    for statement in getattr(loop, "body", []):
        for child in walk(statement):
            if isinstance(child, ast.Assign) and len(child.targets) == 1:
                if _gains_key(child.targets[0], loop):
                    found.add(dotted(child.targets[0].value))
                target = dotted(child.targets[0])
                if not target:
                    continue
                if isinstance(child.value, ast.Call) and _grows(child.value, target):
                    found.add(target)
                elif isinstance(child.value, (ast.List, ast.ListComp, ast.Dict)) or (
                    isinstance(child.value, ast.Call) and dotted(child.value.func) in ("list", "deque")
                ):
                    fresh.add(target)  # created again in each iteration
                elif isinstance(child.value, ast.Subscript) and dotted(child.value.value) == target:
                    fresh.add(target)  # truncated: a window
                elif child is statement and isinstance(child.targets[0], ast.Name):
                    if target not in names_in(child.value):
                        fresh.add(target)  # rebound in each iteration
            elif isinstance(child, ast.Call) and isinstance(child.func, ast.Attribute):
                if child.func.attr == "append" and child.args:
                    found.add(dotted(child.func.value))
                elif child.func.attr in ("pop", "popleft", "clear"):
                    fresh.add(dotted(child.func.value))
    return frozenset(found - fresh - {""})


def _gains_key(target: ast.expr, loop: ast.AST) -> TypeGuard[ast.Subscript]:
    """`named[f"epoch {i}"] = x`: arrays have no such items, and each iteration adds another."""
    if not isinstance(target, ast.Subscript) or not isinstance(target.slice, ast.JoinedStr):
        return False
    return bool(names_in(target.slice) & (counters(loop) | loop_variables(loop)))


def _grows(call: ast.Call, name: str) -> bool:
    last = last_name(call.func)
    if last not in GROWING or not call.args:
        return False
    first = call.args[0]
    parts = first.elts if isinstance(first, (ast.List, ast.Tuple)) else call.args[:2]
    return any(dotted(part) == name for part in parts)


@cache
def assigned_once(loop: ast.AST) -> dict[str, ast.expr]:
    """Names that the body binds exactly once, by a plain assignment, with their values."""
    found: dict[str, ast.expr] = {}
    often: set[str] = set()
    body = getattr(loop, "body", [])
    if not isinstance(body, list):
        return {}  # a lambda
    for statement in body:
        for child in walk(statement):
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
                if child.id in found:
                    often.add(child.id)
                found.setdefault(child.id, child)
            if isinstance(child, ast.Assign) and len(child.targets) == 1:
                target = child.targets[0]
                if isinstance(target, ast.Name) and target.id in found:
                    found[target.id] = child.value
    for statement in body:
        for child in walk(statement):
            if isinstance(child, ast.Assign) and len(child.targets) == 1:
                target = child.targets[0]
                if isinstance(target, ast.Name) and target.id not in often:
                    found[target.id] = child.value
    return {k: v for k, v in found.items() if k not in often and not isinstance(v, ast.Name)}


def given_arguments(function: FunctionNode, call: ast.Call) -> list[tuple[str, ast.expr]]:
    """The arguments of a call, each with its parameter ("" if that is unclear)."""
    parameters = [parameter.arg for parameter in all_parameters(function)]
    if parameters[:1] == ["self"]:
        parameters = parameters[1:]
    given = [
        (parameters[n] if n < len(parameters) and not isinstance(a, ast.Starred) else "", a)
        for n, a in enumerate(call.args)
    ]
    return given + [(k.arg or "", k.value) for k in call.keywords]
