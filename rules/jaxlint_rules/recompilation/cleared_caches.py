"""Loops that clear the compilation caches."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Frame, Loop, Reporter, Rule, concerns
from jaxlint.api.values import ExternalMethod, Transformed
from jaxlint.finding import Severity
from jaxlint_rules._loops import host_loops, place_of_loop


class ClearedCaches(Rule):
    """A loop clears the compilation caches in every iteration.

    ## What it does
    Finds `jax.clear_caches()`, and `f.clear_cache()` of a jitted function, in a loop that calls
    jitted functions.

    ## Why is this bad?
    The next iteration retraces and recompiles everything that it calls. For a small function that
    takes tens of milliseconds instead of microseconds. The caches hold compiled programs, not
    arrays, so clearing them does not free the memory of results.

    ## Example
    ```python
    for batch in batches:
        out.append(features(batch))
        jax.clear_caches()
    ```

    ## Use instead
    ```python
    for batch in batches:
        out.append(features(batch))
    ```
    If memory grows with each iteration, look for another cause: new shapes, functions jitted again
    in each iteration, or results that a list keeps on the device.

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Keep it if each iteration compiles large programs that no later iteration uses, for another
    model or another shape.

    ## References
    - [JAX: `jax.clear_caches`](https://docs.jax.dev/en/latest/_autosummary/jax.clear_caches.html)
    """

    code = "JAX409"
    name = "cleared-caches"
    category = "recompilation"
    severity = Severity.WARNING

    @concerns("jax.clear_caches", "jax.clear_backends", callees=("ExternalMethod",), methods=("clear_cache",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        callee, frame = event.callee, event.frame
        of_function = isinstance(callee, ExternalMethod) and callee.name == "clear_cache"
        if not (event.name or (of_function and isinstance(getattr(callee, "receiver", None), Transformed))):
            return
        if frame.stage.staged or frame.module.is_test or frame.guarded_in_loop():
            return
        if not frame.loops and not frame.is_conditional() and frame.caller is not None:
            frame = frame.caller  # a separate function, for cleaning up
            if frame.stage.staged or frame.guarded_in_loop():
                return
        loop = next(iter(host_loops(frame)), None)
        if loop is None or not loop.calls_jitted or _creates_programs(loop) or _measures(frame, loop):
            return
        report(
            event.node,
            "clearing the caches recompiles everything in the next iteration; clear them after the loop",
            reason=f"{place_of_loop(loop, event.frame)} calls jitted functions",
        )


def _creates_programs(loop: Loop) -> bool:
    """Whether the body creates or jits functions, or objects that may: each iteration may have its own programs."""
    for node in ast.walk(loop.node):
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            return True
        if isinstance(node, (ast.Name, ast.Attribute)):
            name = node.id if isinstance(node, ast.Name) else node.attr
            if name in ("jit", "pmap", "filter_jit") or name.startswith(("make_", "build_", "create_")):
                return True
    return False


def _measures(frame: Frame, loop: Loop) -> bool:
    """Whether the body reads a clock: it may measure compilation."""
    clocks = ("time", "perf_counter", "perf_counter_ns", "monotonic", "timeit")
    return any(
        isinstance(node, ast.Call)
        and (node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", ""))
        in clocks
        for node in ast.walk(loop.node)
    )
