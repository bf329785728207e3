"""`vmap(jit(f))` where `jit(vmap(f))` compiles the whole function."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Frame, Reporter, Rule, TransformEvent, concerns
from jaxlint.api.tables import DIFFERENTIATION, JIT_KINDS
from jaxlint.api.values import BoundMethod, Function, Instance, Partial, Transformed, Value
from jaxlint.finding import FixRequest, Safety, Severity, Step
from jaxlint_rules._cost import RETRACE, is_plain, level, runs
from jaxlint_rules._eager import report_eager
from jaxlint_rules._loops import host_loops, place_of_loop
from jaxlint_rules._main_loops import advances
from jaxlint_rules._names import last_name
from jaxlint_rules.recompilation._repeated_jit import fresh_function


class VmapOfJit(Rule):
    """`vmap` wraps a jitted function and is not jitted itself.

    ## What it does
    Finds `jax.vmap(jax.jit(f))` whose result is not jitted again. Also finds a `jax.vmap` outside
    `jit` that a host loop calls: of a function that is jitted elsewhere, or of one that nothing
    jits, if the program visibly runs the loop and the loop updates an argument of the mapped
    function.

    ## Why is this bad?
    The batched function is retraced at each call, although it is compiled once. On a CPU, a small
    one took 320 us per call, and 19 us as `jit(vmap(f))`.

    ## Example
    ```python
    batched = jax.vmap(jax.jit(f))
    ```

    ## Use instead
    ```python
    batched = jax.jit(jax.vmap(f))
    ```

    ## Fix safety
    Safe: both versions compute the same results. Options of `jit` that count arguments are kept
    only if they mean the same.

    ## When not to fix
    Keep it if the result is only called inside another `jit`. A `vmap` of a jitted function there
    is not reported. It is a warning where a host loop of thousands of iterations calls the result,
    by its length or because it trains, samples or simulates. Elsewhere it is advice, as for loops
    over the levels of a tree, whose state gets another shape each time, and for loops that take what
    does not fit at once in chunks. A mapped function that nothing jits costs that much for each of its
    operations.

    ## References
    - [JAX: just-in-time compilation](https://docs.jax.dev/en/latest/jit-compilation.html)
    """

    code = "JAX701"
    name = "vmap-of-jit"
    category = "vectorization"
    severity = Severity.WARNING
    needs_whole_program = True
    cure = ("compile the step", 1)
    fixable = "safe"

    def __init__(self) -> None:
        self.told: dict[
            tuple[ast.AST, ast.AST], ast.AST
        ] = {}  # by loop and function: the call that is reported

    def on_transform(self, event: TransformEvent, report: Reporter) -> None:
        outer = event.transformed
        if outer.kind != "vmap" or not isinstance(outer.target, Transformed) or event.frame.stage.staged:
            return
        inner = outer.target
        if inner.kind not in JIT_KINDS or inner.kind == "pmap" or inner.module is not event.frame.module:
            return
        node = event.node
        written_here = isinstance(node, ast.Call) and node.args and node.args[0] is inner.node
        stacked = event.decorator is not None and inner.node is node
        if not (written_here or stacked):
            return  # a jitted function that is also used alone may be mapped elsewhere
        if event.decorator is None and _is_jitted(node, report):
            return
        if stacked and event.frame.function is not None and not event.frame.is_called():
            return  # a helper in a function that may itself be called in a trace
        place = event.decorator or node
        fix = None
        if written_here or event.decorator is not None:
            step = Step("swap-vmap-of-jit", report.path, report.span(place))
            fix = FixRequest(Safety.SAFE, "Jit the mapped function", (step,))
        report(
            place,
            f"`vmap` of a jitted function is retraced at every call; use `jit(vmap({inner.label if inner.label.isidentifier() else '...'}))`",
            reason=f"{outer.why.explain(report.module)}, {inner.why.explain(report.module)}",
            # Under jit it costs nothing; what calls it in a loop on the host is reported below, at the same place.
            severity=Severity.INFO,
            fix=fix,
        )

    @concerns(callees=("Transformed",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        """A function jitted for its own use may be mapped; but not eagerly in a loop."""
        mapped, frame = event.callee, event.frame
        if not isinstance(mapped, Transformed) or mapped.kind != "vmap" or frame.stage.staged:
            return
        inner, node = _behind(mapped.target), mapped.node
        if isinstance(inner, Transformed) and inner.kind in DIFFERENTIATION:
            inner = _behind(inner.target)  # the gradients of each example
        if not isinstance(inner, Transformed) or inner.kind not in JIT_KINDS or inner.kind == "pmap":
            report_eager(event, mapped, report, self.told, "vmap", "jit the whole step")
            return
        if mapped.module is not frame.module or frame.module.is_test or not isinstance(node, ast.Call):
            return
        around = next(
            (f for f in (frame, *frame.callers()) if host_loops(f, comprehensions=f is frame)), None
        )
        if around is None or around.stage.staged or around.guarded_in_loop() or frame.is_conditional():
            return
        if _is_jitted_anew(inner, frame, around):
            return  # `jit-in-loop` speaks of it: jitted once, outside, the whole is
        loop = host_loops(around, comprehensions=True)[0]
        report(
            node,
            f"`vmap` of the jitted `{inner.label}` runs outside jit each iteration; jit the mapped function",
            reason=f"{mapped.why.explain(report.module)}, called in {place_of_loop(loop, frame)}",
            severity=Severity.INFO if _goes_by_chunks(loop.node) else level(runs(frame) * RETRACE),
            shown=is_plain(RETRACE, frame),
        )


def _is_jitted_anew(inner: Transformed, frame: Frame, around: Frame) -> bool:
    """Whether each iteration jits a new function object, in the loop or in the function that the loop calls."""
    place = frame.owner if around is not frame else host_loops(around, comprehensions=True)[0].node
    made_there = any(above is place for above in frame.module.ancestors(inner.node))
    return made_there and fresh_function(inner.target, frame.module) is not None


def _behind(target: Value) -> Value:
    """The function behind a partial, method or object, or behind a lambda that only calls it: `lambda w: energy(w,
    x)`."""
    while isinstance(target, (Partial, BoundMethod)):
        target = target.function
    if isinstance(target, Instance):
        return target.cls.lookup("__call__") or target
    body = target.node.body if isinstance(target, Function) and isinstance(target.node, ast.Lambda) else None
    if isinstance(target, Function) and isinstance(body, ast.Call) and isinstance(body.func, ast.Name):
        return target.scope.value_of(body.func.id) or target
    return target


def _goes_by_chunks(loop: ast.AST) -> bool:
    """`for i in range(0, n, size):` divides data that does not fit at once into a few parts, each of which takes long."""
    iterable = getattr(loop, "iter", None)
    chunks = (
        isinstance(iterable, ast.Call) and last_name(iterable.func) == "range" and len(iterable.args) == 3
    )
    return chunks and not advances(loop)


def _is_jitted(node: ast.AST, report: Reporter) -> bool:
    """Whether the call is inside another call, which may be jit."""
    parent = report.module.parents.get(node)
    return isinstance(parent, ast.Call) and parent.func is not node
