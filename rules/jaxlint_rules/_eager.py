"""Steps that a loop runs op by op: which function they call, and what it does."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable

from jaxlint.api import CallEvent, Frame, Loop, Reporter
from jaxlint.api.syntax import cache, dotted, nodes_of, walk
from jaxlint.api.values import ExternalObject, Function, Instance, Partial, Transformed, Value
from jaxlint_rules._compiled_methods import is_compiled_by_class
from jaxlint_rules._cost import RETRACE, level, runs, turns
from jaxlint_rules._loops import (
    BRIEF,
    called_in_loop,
    frame_of_loop,
    host_loops,
    is_under_test,
    loop_variables,
    name_of_step,
    place_of_loop,
)
from jaxlint_rules._main_loops import made_anew
from jaxlint_rules._names import external_name, names_in
from jaxlint_rules._programs import runs_on_host

_HOST = ("np.", "numpy.", "math.", "time.", "os.", "plt.", "random.", "logging.")
_PYTHON = frozenset(
    {"print", "float", "int", "bool", "open", "input", "next", "setattr", "max", "min", "any", "all"}
)
_STATEMENTS = (
    ast.While,
    ast.Try,
    ast.With,
    ast.Raise,
    ast.Assert,
    ast.Global,
    ast.Nonlocal,
    ast.Yield,
    ast.YieldFrom,
    ast.If,
)
_KEEP_EAGER = frozenset({"grad", "value_and_grad", "jacobian", "vmap", "checkpoint"})
_UPDATES = frozenset({"update", "apply_updates", "apply_gradients"})
_APPLYING = frozenset({"flax.linen.Module.apply", "flax.TrainState.apply_fn"})
_LAYERS = "equinox.nn."
_MAPPED = frozenset({"vmap"})
_SOME = 4  # calls and operators; fewer are hardly worth compiling


@cache
def computes_only(function: ast.AST) -> bool:
    """Whether a function only computes, without decisions in Python."""
    for part in walk(function):
        if isinstance(part, _STATEMENTS):
            return False
        if isinstance(part, (ast.Attribute, ast.Subscript)) and isinstance(part.ctx, ast.Store):
            return False
        if isinstance(part, ast.Call):
            name = dotted(part.func)
            if (
                name in _PYTHON
                or name.startswith(_HOST)
                or name.endswith((".item", ".tolist", ".append", ".block_until_ready"))
            ):
                return False
    return True


# Decorators of these packages compile nothing, or the analysis knows what they do.
_KNOWN = frozenset(
    """abc beartype builtins chex contextlib dataclasses equinox flax functools haiku jax jaxtyping optax tqdm typeguard typing
    typing_extensions""".split()  # noqa: SIM905
)


def is_decorated_elsewhere(frame: Frame) -> bool:
    """Whether the function has a decorator that the analysis does not know, and that may compile it: `@named_jit(...)` of haliax, or a
    name that is defined nowhere."""
    function = frame.function
    if function is None or isinstance(function.node, ast.Lambda):
        return False
    for decorator in function.node.decorator_list:
        made = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = external_name(made, function.scope)
        if name and name.partition(".")[0] not in _KNOWN:
            return True
        root = dotted(made).partition(".")[0]
        if root and function.scope.value_of(root) is None and not hasattr(builtins, root):
            return True
    return False


def eager_step(callee: Transformed, node: ast.AST, frame: Frame) -> tuple[Function, Loop] | None:
    """The function that a program loop calls as its step, op by op, and the loop; None if something may compile it."""
    target: Value = callee
    while isinstance(target, (Transformed, Partial)):
        if isinstance(target, Transformed) and target.kind not in _KEEP_EAGER:
            return None
        target = target.target if isinstance(target, Transformed) else target.function
    if (
        frame.stage.staged
        or is_under_test(frame)
        or frame.guarded_in_loop()
        or not isinstance(node, ast.Call)
    ):
        return None
    if not isinstance(target, Function) or not computes_only(target.node) or _size(target.node) < _SOME:
        return None
    found = running_loop(node, frame)
    if (
        found is None
        or not steps(found[1], found[0].node)
        or not runs_on_host(frame)
        or is_compiled_by_class(frame)
        or any(map(is_decorated_elsewhere, (frame, *frame.callers())))
    ):
        return None
    return target, found[0]


def running_loop(
    node: ast.Call, frame: Frame, passes: Callable[[ast.AST], bool] = lambda condition: False
) -> tuple[Loop, ast.Call] | None:
    """The host loop that runs a call in every iteration, and the call in its body: this one, or one that leads to it. `passes`: whether
    most calls of a function in between meet a condition."""
    own = host_loops(frame)
    if own:
        return own[0], node
    called = called_in_loop(frame, passes)
    if called is None or is_brief_in_all(called[0], frame):
        return None
    around = called[1].call_node
    return (called[0], around) if isinstance(around, ast.Call) else None


def is_brief_in_all(loop: Loop, frame: Frame) -> bool:
    """Whether a loop has few iterations, also with those of the loops around it and around its callers."""
    if loop.trips is None or loop.trips > BRIEF:
        return False
    around = runs(frame, loop) / turns(loop, frame_of_loop(loop, frame))
    return around * loop.trips <= _FEW_RUNS


_FEW_RUNS = 500  # of a small model, operation by operation: a second


def report_eager(
    event: CallEvent,
    callee: Transformed,
    report: Reporter,
    told: dict[tuple[ast.AST, ast.AST], ast.AST],
    name: str,
    advice: str,
) -> None:
    """Reports a call of the result of the transform `name`, if `eager_step` accepts it; `told` are the reported calls, by loop and
    function."""
    frame = event.frame
    found = eager_step(callee, event.node, frame)
    if found is None:
        return
    function, loop = found
    own = loop in frame.loops
    around = not own or any(host_loops(caller) for caller in frame.callers())
    if around and _updates_by_optimiser(frame):
        return  # `eager-update` reports the whole function
    if told.setdefault((loop.node, function.node), event.node) is not event.node:
        return  # the function called once more: one `jit` of it serves both
    report(
        event.node,
        f"`{name}` of `{function.qualname}` runs operation by operation each iteration; {advice}",
        reason=f"{callee.why.explain(report.module)}; {place_of_loop(loop, frame)} calls "
        f"{'it' if own else f'`{name_of_step(frame)}`'} outside jit",
        # Most functions of `jax.numpy` are jitted themselves: the transform traces each of them again.
        severity=level(runs(frame, loop) * _size(function.node) * RETRACE),
        shown=True,  # the state of a loop, computed operation by operation
    )


def _updates_by_optimiser(frame: Frame) -> bool:
    """Whether the function of a frame applies the updates of an optimizer."""
    function = frame.function
    calls = nodes_of(function.node, ast.Call) if function is not None else ()
    return any(dotted(call.func).rpartition(".")[2] in _UPDATES for call in calls)


def steps(node: ast.Call, loop: ast.AST) -> bool:
    """Whether the loop updates an argument of the call: the body rebinds it."""
    given = {name for argument in node.args for name in names_in(argument)}
    stored: set[str] = set()
    bound = loop_variables(loop)
    for child in ast.walk(loop):
        if isinstance(child, ast.comprehension):
            bound |= loop_variables(child)
        elif isinstance(child, (ast.Name, ast.Attribute)) and isinstance(child.ctx, ast.Store):
            stored.add(dotted(child).partition(".")[0])
    return bool(given & (stored - bound - made_anew(loop)))


def _size(function: ast.AST) -> int:
    return len(nodes_of(function, ast.Call)) + len(nodes_of(function, ast.BinOp))


def runs_model(callee: Value, nnx: bool = False) -> bool:
    """Whether a call runs a whole model of flax.linen, haiku or equinox. `nnx`: those of flax.nnx count, too."""
    if isinstance(callee, Transformed) and callee.kind == "hk.apply":
        return True
    while isinstance(callee, Transformed) and callee.kind in _MAPPED:
        callee = callee.target
    if isinstance(callee, ExternalObject):
        return callee.name in _APPLYING or callee.name.startswith(_LAYERS)
    return isinstance(callee, Instance) and callee.cls.kind in ("equinox", *(["nnx"] if nnx else []))
