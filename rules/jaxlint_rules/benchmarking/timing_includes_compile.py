"""Timings that include the first call of a jitted function."""

from __future__ import annotations

import ast
import dataclasses
import re

from jaxlint.api import Dispatch, ElapsedEvent, Frame, Reporter, Rule
from jaxlint.api.syntax import dotted, nodes_of
from jaxlint.finding import FixRequest, Severity
from jaxlint_rules._fixes import propose
from jaxlint_rules._loops import SIZED, assigned_once, loop_variables, rebound
from jaxlint_rules._main_loops import runs_many_steps
from jaxlint_rules._names import last_name, names_in
from jaxlint_rules._purpose import counts_shown
from jaxlint_rules.benchmarking._averages import averaged, is_divided
from jaxlint_rules.benchmarking._regions import (
    COMPILING,
    is_measurement,
    place_of,
    report_from,
    speaks_of,
    way_up,
)

_ENDS = re.compile(r"\b(finish|complet|done\b|total)", re.IGNORECASE)
# Words for a figure that is meant as a speed.
_MAKERS = SIZED | {"normal", "uniform", "rand", "randn", "standard_normal", "random"}
_CONVERTING = frozenset({"array", "asarray", "device_put"})
_SPEED = re.compile(
    r"speed|fast|slow|throughput|per[_ /-]|/s\b|\bm?s[ech\"'/]|}\s*(m|µ|u)?s|took|bench|latency|runtime|time(:| [({=])",
    re.IGNORECASE,
)


class TimingIncludesCompile(Rule):
    """A timing includes the compilation of a jitted function.

    ## What it does
    Finds timed regions that contain the program's first call of a jitted function, directly or
    through a helper that receives the function, without a warm-up call before.

    ## Why is this bad?
    The first call traces and compiles, which takes tenths of a second to minutes. A later call
    often takes microseconds. The measured time says nothing about the speed of the function.

    ## Example
    ```python
    step = jax.jit(update)
    start = time.perf_counter()
    step(x).block_until_ready()
    print("time:", time.perf_counter() - start)
    ```

    ## Use instead
    ```python
    step = jax.jit(update)
    step(x).block_until_ready()  # compiles
    start = time.perf_counter()
    step(x).block_until_ready()
    print("time:", time.perf_counter() - start)
    ```

    ## Fix safety
    Unsafe: the program calls the function once more before the clock starts, which takes time and
    memory. The fix applies only if the arguments exist by then and none of them is donated.

    ## When not to fix
    Keep it if you want to measure compilation. Not reported: regions whose names or texts say so
    ("compile", "first call", "warm-up"), loops whose times are not averaged or that leave out the
    first, total run times that are not reported as a speed, and tests. A time that is only printed
    among other results, or as the end of a run ("finished in"), is advice.

    ## References
    - [JAX: benchmarking](https://docs.jax.dev/en/latest/benchmarking.html)
    """

    code = "JAX1402"
    name = "timing-includes-compile"
    category = "benchmarking"
    severity = Severity.WARNING
    needs_whole_program = True
    fixable = "unsafe"

    def on_elapsed(self, event: ElapsedEvent, report: Reporter) -> None:
        if not event.waited or not is_measurement(event, report):
            return  # without a host sync the measurement is meaningless, and another rule reports it
        cold = next((d for d in event.dispatches if d.first), None)
        if cold is None or not _from_program(event.frame) or _keeps_running(event):
            return
        if event.frame.loops:
            self.check_loop(event, cold, report)
            return
        again = any(d.target is cold.target for d in event.dispatches if d is not cold)
        if again or cold.frame.loops or _is_repeated(event, cold):
            self.check_repeats(event, cold, report)
            return  # called again in the region
        *below, (frame, node) = way_up(cold, event.frame)
        if any(inner.loops for inner, _ in below) or frame is not event.frame or speaks_of(event, COMPILING):
            return
        helper = (frame, node)
        frame, node = _chosen_at(cold, frame, node)
        if node is helper[1] and not speaks_of(event, _SPEED):
            return  # a run's total time may include everything
        if frame.loops and self.check_sizes(event, cold, frame, node, report):
            return
        if _text_says_so(frame, node) or not report_from(report, frame, node):
            return
        report(
            place_of(node),
            f"the measured time includes compiling `{cold.label}`; call it once before starting the clock",
            reason=f"this is the first call of the jitted `{cold.label}`, between two readings of the clock",
            fix=_warmed(event, cold, node, report),
            severity=Severity.INFO
            if _is_progress(event) or _is_of_training(cold) or _is_kept_by_object(event)
            else None,
        )

    def check_sizes(
        self, event: ElapsedEvent, cold: Dispatch, frame: Frame, node: ast.AST, report: Reporter
    ) -> bool:
        """A loop that gives a timing helper an array of another size each time."""
        loop = frame.in_loop()
        if loop is None or not isinstance(node, ast.Call) or frame.guarded_in_loop():
            return False
        sized = _resized_argument(node, loop.node, loop_variables(loop.node))
        if not sized or COMPILING.search(ast.unparse(node)) or not report_from(report, frame, node):
            return False
        report(
            node,
            f"the measured time includes compiling `{cold.label}`; call it once before starting the clock",
            reason=f"each iteration calls it with a new shape of `{sized}`",
        )
        return True

    def check_repeats(self, event: ElapsedEvent, cold: Dispatch, report: Reporter) -> None:
        """A region that repeats one call, to divide by the number of calls or the other way round."""
        node, module = cold.node, event.frame.module
        if cold.frame is not event.frame or not isinstance(node, ast.Call):
            return
        loop = next((above for above in module.ancestors(node) if isinstance(above, ast.For)), None)
        if loop is None or loop.lineno < getattr(event.start.node, "lineno", 0):
            return
        given = names_in(node) & (rebound(loop) | names_in(loop.target))
        if given or not is_divided(event) or speaks_of(event, COMPILING):
            return
        if report_from(report, cold.frame, node):
            report(
                place_of(node),
                f"the measured time includes compiling `{cold.label}`; call it once before starting the clock",
                reason=f"the first iteration compiles `{cold.label}`, and the average includes that time",
            )

    def check_loop(self, event: ElapsedEvent, cold: Dispatch, report: Reporter) -> None:
        """A measuring loop: it runs each of several functions once, or one function many times for a mean."""
        *below, (frame, node) = way_up(cold, event.frame)
        loop = frame.in_loop()
        if (
            any(inner.loops for inner, _ in below)
            or frame is not event.frame
            or loop is None
            or frame.guarded_in_loop()
            or len(frame.loops) != 1
        ):
            return
        if speaks_of(event, COMPILING) or not isinstance(node, ast.Call):
            return
        bound = loop_variables(loop.node)
        in_turn = isinstance(node.func, ast.Name) and node.func.id in bound
        sized = _resized_argument(node, loop.node, bound)
        calls = [d for d in event.dispatches if d.node is not cold.node and d.target is not None]
        if (
            (calls and (in_turn or sized))
            or not (in_turn or sized or averaged(event, loop))
            or not report_from(report, frame, node)
        ):
            return
        what = "each function" if in_turn else f"`{cold.label}`"
        report(
            place_of(node),
            f"the measured time includes compiling {what}; call it once before starting the clock",
            reason="each iteration calls another function for the first time"
            if in_turn
            else f"each iteration calls it with a new shape of `{sized}`"
            if sized
            else f"the first iteration compiles `{cold.label}`, and the mean includes that time",
        )


def _is_kept_by_object(event: ElapsedEvent) -> bool:
    """`self.time_fit = time() - start`: an object records the time of its last call; only the first call compiles."""
    for above in event.frame.module.ancestors(event.node):
        if isinstance(above, ast.stmt):
            if not isinstance(above, ast.Assign) or not isinstance(above.value, ast.BinOp):
                return False
            if not isinstance(above.value.op, ast.Sub):
                return False  # a rate, or what is left to do, is computed from it
            return any(dotted(target).startswith("self.") for target in above.targets)
    return False


def _is_repeated(event: ElapsedEvent, cold: Dispatch) -> bool:
    """Whether a loop of the measured region calls it, perhaps by `jit(f)(x)`, which makes it anew each time."""
    if cold.frame is not event.frame:
        return False
    start = getattr(event.start.node, "lineno", 0)
    return any(
        isinstance(above, (ast.For, ast.While)) and above.lineno > start
        for above in event.frame.module.ancestors(cold.node)
    )


def _is_of_training(cold: Dispatch) -> bool:
    """Whether the measured call runs many steps in a loop on the device: a compile is short compared with that."""
    return cold.target is not None and runs_many_steps(cold.target.target)


def _is_progress(event: ElapsedEvent) -> bool:
    """`print(f"done in {time() - start} s, {n} nodes, peak {peak()}")`: a remark on a run beside its results,
    not a figure that is kept or compared.
    """
    for above in event.frame.module.ancestors(event.node):
        if isinstance(above, ast.stmt):
            shown = isinstance(above, ast.Expr)
            return shown and (counts_shown(above) > 2 or _ENDS.search(ast.unparse(above)) is not None)
    return False


def _resized_argument(call: ast.Call, loop: ast.AST, bound: set[str]) -> str:
    """The argument whose size depends on the loop variable; "" if none is known."""
    made = assigned_once(loop)
    for argument in call.args:
        maker = _made_by(made.get(argument.id) if isinstance(argument, ast.Name) else argument)
        if maker is not None and last_name(maker.func) in _MAKERS:
            sizes = [*maker.args, *(k.value for k in maker.keywords if k.arg in ("shape", "size"))]
            if any(names_in(part) & bound for part in sizes):
                return dotted(argument) or ast.unparse(argument)
    return ""


def _made_by(node: ast.expr | None) -> ast.Call | None:
    """The call behind arithmetic on one array and conversions of it: `rng.normal(...)` in `jnp.asarray(2 *
    rng.normal(...))`."""
    while True:
        if isinstance(node, ast.BinOp):
            node = node.left if any(isinstance(n, ast.Call) for n in ast.walk(node.left)) else node.right
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "astype"
        ):
            node = node.func.value
        elif isinstance(node, ast.Call) and last_name(node.func) in _CONVERTING and node.args:
            node = node.args[0]
        else:
            return node if isinstance(node, ast.Call) else None


def _from_program(frame: Frame) -> bool:
    """Whether the evaluation began at a module's body, so that earlier calls are known."""
    outermost = frame
    while outermost.caller is not None:
        outermost = outermost.caller
    return outermost.is_program()


def _keeps_running(event: ElapsedEvent) -> bool:
    """Whether the clock starts once and is read repeatedly: that shows the progress of a run, not the speed of a
    function."""
    owner = event.frame.owner
    name = (
        event.node.right.id
        if isinstance(event.node, ast.BinOp) and isinstance(event.node.right, ast.Name)
        else ""
    )
    if not name or sum(n.id == name and isinstance(n.ctx, ast.Store) for n in nodes_of(owner, ast.Name)) != 1:
        return False
    told = [n for n in nodes_of(owner, ast.BinOp) if isinstance(n.op, ast.Sub) and dotted(n.right) == name]
    readings = {ast.unparse(n.left) if isinstance(n.left, ast.Name) else id(n) for n in told}
    return len(readings) > 1


def _chosen_at(cold: Dispatch, frame: Frame, node: ast.AST) -> tuple[Frame, ast.AST]:
    """The call that passes the function to a timing helper, if there is one."""
    func = node.func if isinstance(node, ast.Call) else None
    while isinstance(func, ast.Name) and frame.function is not None:
        arguments = frame.function.node.args
        names = [p.arg for p in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]]
        if func.id not in names or frame.caller is None or not isinstance(frame.call_node, ast.Call):
            break
        position = names.index(func.id)
        call = frame.call_node
        frame, node = frame.caller, call
        func = call.args[position] if position < len(call.args) else None
    return frame, node


def _text_says_so(frame: Frame, node: ast.AST) -> bool:
    """Whether the statement that requests the measurement mentions compilation, or repeats it."""
    line = getattr(node, "lineno", 1)
    return bool(frame.loops) or bool(COMPILING.search(frame.module.lines[line - 1]))


def _warmed(event: ElapsedEvent, cold: Dispatch, node: ast.AST, report: Reporter) -> FixRequest | None:
    """Calls the function once before the clock starts."""
    start = event.start
    here = cold.frame is event.frame and start.frame is event.frame and node is cold.node
    donates = cold.target is None or any(option.startswith("donate") for option in cold.target.options)
    if not here or donates or not isinstance(start.node, ast.expr):
        return None
    place = dataclasses.astuple(report.span(start.node))
    return propose(
        report, node, "call-before-clock", f"Call `{cold.label}` once before", safe=False, clock=place
    )
