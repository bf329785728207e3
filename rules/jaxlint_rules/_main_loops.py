"""Whether a loop does the work of the program: training, sampling, simulation or evaluation, where costs per iteration add up."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Collection

from jaxlint.api import Frame, Loop
from jaxlint.api.syntax import cache, dotted, names_stored, nodes_of, walk
from jaxlint.api.tables import canonical
from jaxlint.api.values import External, Function, Partial, Transformed, Unknown, Value
from jaxlint_rules._callables import function_in
from jaxlint_rules._loops import counters, host_loops
from jaxlint_rules._names import bound_by, last_name, names_in, passed, unpacked
from jaxlint_rules._slices import assignments, calls_in, sources, stepped_on

_WORKS = re.compile(
    r"train|update|optimi|learn|evaluat|valid|(^|_)(eval|val|test|fit|sample|step|decode)(_|$)"
)
# A call that does many steps on the device.
_MANY = re.compile(r"epoch|iterations|multi_?steps?|(^|_)n_steps|(^|_)steps(_|$)|rollout|simulat|chunk")
_BATCHES = re.compile(r"batch|loader")
_FED = re.compile(r"batch|loader|token")
_KEYS = re.compile(r"(^|_)(rngs?|keys?|prng|seeds?)\d*(_|$)")
_LOOPS = frozenset({"scan", "while_loop", "fori_loop"})
# Values that carry no array from one iteration to the next: keys, numbers and text.
_PLAIN = frozenset(
    ["split", "fold_in", "PRNGKey", "key", "max", "min", "abs", "len", "int", "float", "str", "sum", "round"]
)


def does_main_work(loop: Loop, frame: Frame, called: str = "", around: bool = True) -> bool:
    """Whether there is evidence that a loop, or one around it, does the work of the program. `around`: whether those count.

    Evidence is an array that an iteration computes from that of the previous one, as a training step, a sampler or a
    simulation does, or a called function that is named for training or evaluation. A loop that evaluates a function once
    for each of several settings, files or images has neither.
    """
    loops = loops_around(loop, frame) if around else [loop]
    if any(map(is_named_for_work, (called, *called_between(loop, frame)))):
        return True
    if any(advances(one.node) for one in loops):
        return True
    return _BATCHES.search(ast.unparse(getattr(loop.node, "iter", loop.node)).lower()) is not None


def is_step_loop(loop: Loop, frame: Frame, called: str) -> bool:
    """Whether a loop is the innermost loop of the work and runs once for each batch or step: it takes a
    batch, or calls a function whose name says that it trains one step. Other loops, over fits, simulations or
    epochs, take so long in each iteration that a wait for the host costs nothing.
    """
    if holds_loop(loop.node):
        return False
    if any(map(is_named_for_step, (called, *called_between(loop, frame)))):
        return True
    texts = [
        ast.unparse(part)
        for one in loops_around(loop, frame)
        for part in (getattr(one.node, "iter", None), getattr(one.node, "target", None))
        if part is not None
    ]
    given = [name for call in calls_in(loop.node) for one in passed(call) for name in names_in(one)]
    return any(_FED.search(text.lower()) for text in [*texts, *given])


def called_between(loop: Loop, frame: Frame) -> list[str]:
    """The functions through which a loop of a caller runs a place: `update`, for `agent.update(batch)`."""
    frames = itertools.takewhile(lambda one: loop not in one.loops, (frame, *frame.callers()))
    return [one.function.name for one in frames if one.function is not None]


def is_named_for_step(called: str) -> bool:
    """Whether a function is named for one step of training, evaluation or sampling."""
    return _STEPS.search(called.rpartition(".")[2].lower()) is not None


_STEPS = re.compile(
    r"(^|_)(steps?|update|iterate)(_|$)|(train|eval|test|update|valid\w*|decode|sample)_?(step|batch)"
)


@cache
def holds_loop(loop: ast.AST) -> bool:
    """Whether each iteration runs a loop over more than what it shows: an epoch, or a trial. One under an `if` runs now and
    then, but where the test leaves out a first iteration."""
    waiting: list[ast.stmt] = list(getattr(loop, "body", []))
    while waiting:
        part = waiting.pop()
        if isinstance(part, (ast.For, ast.While)) and any(map(_is_stored_call, nodes_of(part, ast.Assign))):
            return True
        if isinstance(part, (ast.With, ast.Try)):
            waiting += part.body
        elif isinstance(part, ast.If):
            waiting += _taken_but_once(part)
    return False


def _taken_but_once(test: ast.If) -> list[ast.stmt]:
    """The branch that all iterations but one take: the second of `if epoch == 0:`, the first of `if epoch > 0:`."""
    compared = test.test
    if not isinstance(compared, ast.Compare) or not isinstance(compared.left, ast.Name):
        return []
    if len(compared.ops) != 1 or not isinstance(compared.comparators[0], ast.Constant):
        return []
    if compared.comparators[0].value not in (0, 1):
        return []
    if isinstance(compared.ops[0], ast.Eq):
        return test.orelse
    return test.body if isinstance(compared.ops[0], (ast.NotEq, ast.Gt, ast.GtE)) else []


def _is_stored_call(statement: ast.Assign) -> bool:
    return isinstance(statement.value, ast.Call) and last_name(statement.value.func) not in _PLAIN


def is_named_for_work(called: str) -> bool:
    """Whether a function is named for training, sampling or evaluation."""
    return _WORKS.search(called.rpartition(".")[2].lower()) is not None


def runs_loop(value: Value) -> bool:
    """Whether a function itself runs a loop on the device, such as all steps of a simulation. A call then
    takes so long that work of the host between two calls does not matter.
    """
    function = function_in(value)
    return function is not None and any(map(_is_loop, nodes_of(function.node, ast.Call)))


def runs_many_steps(value: Value) -> bool:
    """Whether a function runs whole steps of the program in a loop on the device, as one for an epoch does: its name says so, or
    the loop's body runs a loop itself, or calls a step."""
    function = function_in(value)
    if function is None:
        return False
    if _MANY.search(function.name.lower()):
        return isinstance(function.node, ast.Lambda) or runs_loop(function)
    nested = {one.name: one for one in nodes_of(function.node, ast.FunctionDef)}
    for call in filter(_is_loop, nodes_of(function.node, ast.Call)):
        for given in passed(call):
            body = nested.get(dotted(given))
            called = [last_name(part.func) for part in nodes_of(body, ast.Call)] if body is not None else []
            inner = body is not None and any(
                map(_is_loop, (n for n in walk(body) if isinstance(n, ast.Call)))
            )
            if inner or any(_STEP.search(name.lower()) for name in called):
                return True
    return False


def is_cheap(value: Value, depth: int = 4) -> bool:
    """Whether the whole function is visible and has only a few operations: the device finishes before the
    host asks for the result. A loop on the device, a model of a library and code that cannot be read may take
    any time.
    """
    function = function_in(value)
    if function is None:
        return False
    for call in nodes_of(function.node, ast.Call):
        name = dotted(call.func)
        if _is_loop(call) or _runs_given(call, function):
            return False
        if not name and isinstance(call.func, ast.Attribute) and call.func.attr in _OF_ARRAYS:
            continue
        held = function.scope.value_of(name.partition(".")[0])
        if isinstance(held, External):
            if canonical(held.name).partition(".")[0] not in _ARRAYS:
                return False
        elif isinstance(held, (Function, Partial, Transformed)) and "." not in name:
            if not depth or not is_cheap(held, depth - 1):
                return False
        elif "." in name and last_name(call.func) not in _OF_ARRAYS:
            return False
    return len(nodes_of(function.node, ast.Call)) <= _FEW_CALLS


def _runs_given(call: ast.Call, function: Function) -> bool:
    """Whether a call runs a function that the caller gives: `jax.grad(loss)(w)`, with a parameter `loss`."""
    if not isinstance(call.func, ast.Call) or not call.func.args:
        return False
    arguments = function.node.args
    return dotted(call.func.args[0]) in {one.arg for one in (*arguments.posonlyargs, *arguments.args)}


def calls_heavy(loop: ast.AST, frame: Frame) -> bool:
    """Whether an iteration calls a compiled function, or one that the program got from elsewhere, that is not visibly a few
    operations."""
    for call in calls_in(loop):
        if isinstance(call.func, ast.Name):
            held = frame.value_of(call.func.id)
            if isinstance(held, Unknown) or (
                isinstance(held, (Transformed, Function)) and not is_cheap(held)
            ):
                return True
    return False


_FEW_CALLS = 24
_ARRAYS = frozenset({"jax", "numpy", "builtins", "functools", "math", "optax"})
_OF_ARRAYS = frozenset(
    """sum mean max min astype reshape set add multiply at std var dot argmax argmin all any ravel flatten transpose get update init
    items values keys append squeeze _replace replace clip""".split()  # noqa: SIM905
)

_STEP = re.compile(r"^_*(train_)?(step|update)$|train_step|update_step")


def calls_many_steps(loop: ast.AST, frame: Frame) -> bool:
    """Whether each iteration calls a compiled function that by its name does many steps: `do_n_iterations(state)`."""
    return any(
        isinstance(call.func, ast.Name)
        and _MANY.search(call.func.id.lower()) is not None
        and isinstance(frame.value_of(call.func.id), Transformed)
        for call in calls_in(loop)
    )


def _is_loop(call: ast.Call) -> bool:
    """`lax.scan`, and functions of a project around it, such as `scan_and_mean`."""
    name = last_name(call.func)
    return name in _LOOPS or name.startswith("scan_")


def loops_around(loop: Loop, frame: Frame) -> list[Loop]:
    """The loop, those around it, and those from which its function is called."""
    frames = [frame, *frame.callers()]
    while frames and loop not in frames[0].loops:
        frames.pop(0)
    if not frames:
        return [loop]
    own = frames[0].loops
    return [*own[: own.index(loop) + 1], *(one for caller in frames[1:] for one in caller.loops)]


@cache
def advances(loop: ast.AST) -> bool:
    """Whether the body calls a function that computes a value from the value that an earlier iteration stored
    under the same name, or from an array that the iteration changes in place by the result.
    """
    stores = _stores_in(loop)
    for targets, value in assignments(loop):
        for call in walk(value):
            if not isinstance(call, ast.Call) or last_name(call.func) in _PLAIN:
                continue
            given = {part.id for one in passed(call) for part in walk(one) if isinstance(part, ast.Name)}
            carried = sources(given, loop) & targets - _fresh(loop)
            if any(not _KEYS.search(name.lower()) for name in carried):
                return True
            if any(array in given and sources(used, loop) & targets for array, used in stores):
                return True
    return any(_updates_attribute(part) for part in _assignments_in(loop))


@cache
def carries_state(loop: ast.AST) -> bool:
    """Whether each iteration computes a value, other than a key, from the one that the iteration before has left, as those of training,
    sampling and simulation do. Those of an evaluation, or of a data set, are independent."""
    carried = any(not _KEYS.search(name.lower()) for name in stepped_on(loop))
    return carried or any(map(_updates_attribute, _assignments_in(loop)))


@cache
def _stores_in(loop: ast.AST) -> list[tuple[str, set[str]]]:
    """`counts[arm] += reward`: the array, and the names in the index and in the value."""
    found: list[tuple[str, set[str]]] = []
    for statement in getattr(loop, "body", []):
        for part in walk(statement):
            if not isinstance(part, (ast.Assign, ast.AugAssign)):
                continue
            for target in part.targets if isinstance(part, ast.Assign) else [part.target]:
                if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                    found.append((target.value.id, names_in(target.slice) | names_in(part.value)))
    return found


@cache
def _fresh(loop: ast.AST) -> frozenset[str]:
    """The names that each iteration binds again: the targets of the `for`."""
    target = getattr(loop, "target", None)
    return (
        frozenset(part.id for part in walk(target) if isinstance(part, ast.Name)) if target else frozenset()
    )


@cache
def reshapes_state(loop: ast.AST) -> bool:
    """Whether the state has another shape after each iteration, which few iterations can bear: `boxes = halve(boxes).reshape(-1, 4)`,
    on the levels of a tree."""
    anew = made_anew(loop) | _fresh(loop)
    return any(
        isinstance(target, ast.Name)
        and target.id in names_in(statement.value) - anew
        and any(isinstance(part, ast.Attribute) and part.attr == "reshape" for part in walk(statement.value))
        for statement in _assignments_in(loop)
        for target in statement.targets
    )


@cache
def made_anew(loop: ast.AST) -> set[str]:
    """The names that each iteration binds before it reads them: `x, y = batch`. They carry nothing from the one before."""
    anew: set[str] = set()
    known: set[str] = set()
    for statement in getattr(loop, "body", []):
        read = names_in(statement.value) if isinstance(statement, ast.Assign) else names_in(statement)
        bound = bound_by(statement) if isinstance(statement, ast.Assign) else set[str]()
        anew |= bound - known - read
        known |= bound | read
    return anew


def _assignments_in(loop: ast.AST) -> list[ast.Assign]:
    return [
        part
        for statement in getattr(loop, "body", [])
        for part in walk(statement)
        if isinstance(part, ast.Assign)
    ]


def _updates_attribute(statement: ast.Assign) -> bool:
    """`self.state = step(self.state, batch)`."""
    if not isinstance(statement.value, ast.Call) or last_name(statement.value.func) in _PLAIN:
        return False
    made = {dotted(part) for target in statement.targets for part in unpacked(target)}
    return any("." in dotted(one) and dotted(one) in made for one in passed(statement.value))


def gets_the_same(call: ast.Call, state: Collection[str], frame: Frame) -> bool:
    """Whether each iteration of a loop passes the same data beside the `state` that the call gives back, as a fit of all points at
    once does, or a step that is only tried. What fits into one batch is mostly small, and so is what is fitted to it."""
    loop = next(iter(host_loops(frame)), None)
    if loop is None or loop not in frame.loops:
        return False
    changing = names_stored(loop.node) - {"_"}
    for argument in passed(call):
        if dotted(argument) in state or is_key(dotted(argument)) or dotted(argument) in counters(loop.node):
            continue
        if isinstance(argument, ast.Starred) or names_in(argument) & changing:
            return False
        if isinstance(argument, ast.Call) and not dotted(argument.func).startswith(("jnp.", "jax.numpy.")):
            return False  # the next batch, by whatever gives it
    return True


def steps_alike(loop: Loop, frame: Frame, called: str) -> bool:
    """Whether all calls of a function in a loop pass the same data each time, as to see a step work."""
    found = False
    for call in calls_in(loop.node):
        if last_name(call.func) == called:
            statement = frame.module.parents.get(call)
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            state = {dotted(part) for target in targets for part in unpacked(target)}
            if not gets_the_same(call, state, frame):
                return False
            found = True
    return found


def is_key(name: str) -> bool:
    """PRNG keys are a few bytes, and each iteration has another."""
    return name.rpartition(".")[2].rstrip("s").endswith(("key", "rng"))


def waits_by_itself(loop: ast.AST, frame: Frame) -> bool:
    """Whether a function that the loop calls waits for the device, as one that measures a step does. Inside a compiled function
    `block_until_ready` waits for nothing."""
    for call in calls_in(loop):
        name = dotted(call.func)
        held = frame.value_of(name) if name and "." not in name else None
        if isinstance(held, Transformed) and "jit" in held.kind:
            continue
        node = getattr(held, "node", None)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and blocks(node):
            return True
    return False


@cache
def waits_in_each(loop: ast.AST) -> bool:
    """Whether every iteration waits for the device explicitly."""
    body = getattr(loop, "body", [])
    return isinstance(body, list) and any(
        blocks(statement) for statement in body if isinstance(statement, (ast.Expr, ast.Assign))
    )


@cache
def blocks(function: ast.AST) -> bool:
    """Whether code waits for the device explicitly."""
    return any(
        isinstance(part, ast.Attribute) and part.attr == "block_until_ready" for part in ast.walk(function)
    )
