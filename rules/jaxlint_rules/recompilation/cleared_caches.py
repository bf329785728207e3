"""The compiled programs are thrown away in a loop."""

from __future__ import annotations

import ast

from jaxlint.finding import Severity
from jaxlint.rule import Example, Rule, concerns
from jaxlint.staging import Reporter
from jaxlint.staging.events import CallEvent
from jaxlint.staging.frame import Frame, Loop
from jaxlint.staging.values import ExternalMethod, Transformed
from jaxlint_rules._loops import host_loops


class ClearedCaches(Rule):
    """A loop throws the compiled programs away in every iteration.

    ## What it does
    Finds `jax.clear_caches()`, and `f.clear_cache()` of a jitted function, in a loop that calls jitted functions.

    ## Why is this bad?
    Whatever the next iteration calls is traced and compiled again: for a small function that takes tens of milliseconds
    instead of microseconds. The caches hold programs, not arrays; clearing them does not give back the memory of results.

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
    Memory that grows with each iteration has another cause: new shapes, functions that are jitted anew, results that a list keeps on the device.

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    When each iteration compiles large programs that no later one uses: another model, another shape.

    ## References
    - [JAX: `jax.clear_caches`](https://docs.jax.dev/en/latest/_autosummary/jax.clear_caches.html)
    """

    code = "JAX409"
    name = "cleared-caches"
    category = "recompilation"
    severity = Severity.WARNING
    examples = (
        Example(
            "after every step",
            """
import jax
import jax.numpy as jnp

@jax.jit
def features(x):
    return jnp.fft.rfft(x).real ** 2

def process(chunks):
    out = []
    for chunk in chunks:
        out.append(features(chunk))
        jax.clear_caches()  # finding
    return out

def repeat(x, steps):
    for _ in range(steps):
        x = features(x)
        features.clear_cache()  # finding
    return x

def release():
    jax.clear_caches()  # finding

def tidy(chunks):
    out = []
    for chunk in chunks:
        out.append(features(chunk))
        release()
    return out

tidy([jnp.ones(8)] * 9)
""",
        ),
        Example(
            "once, now and then, another model each time, between measurements",
            """
import time

import jax
import jax.numpy as jnp

@jax.jit
def features(x):
    return jnp.fft.rfft(x).real ** 2

def process(chunks):
    out = [features(chunk) for chunk in chunks]
    jax.clear_caches()
    for n, chunk in enumerate(chunks):
        out.append(features(chunk))
        if n % 100 == 0:
            jax.clear_caches()
    return out

def tidied(chunks):
    release(len(chunks))
    for n, chunk in enumerate(chunks):
        features(chunk)
        if n % 100 == 0:
            release(n)
        release_when(n)

def release(n):
    jax.clear_caches()

def release_when(n):
    if n % 100 == 0:
        jax.clear_caches()

tidied([jnp.ones(8)] * 9)

def models(widths, x):
    for width in widths:
        model = jax.jit(lambda x: x @ jnp.ones((3, width)))
        print(model(x))
        jax.clear_caches()

def compile_times(x):
    for _ in range(10):
        jax.clear_caches()
        start = time.perf_counter()
        features(x).block_until_ready()
        print(time.perf_counter() - start)
""",
        ),
    )

    @concerns("jax.clear_caches", "jax.clear_backends", callees=("ExternalMethod",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        callee, frame = event.callee, event.frame
        of_function = isinstance(callee, ExternalMethod) and callee.name == "clear_cache"
        if not (event.name or (of_function and isinstance(getattr(callee, "receiver", None), Transformed))):
            return
        if frame.stage.staged or frame.module.is_test or frame.guarded_in_loop():
            return
        if not frame.loops and not frame.guards and frame.caller is not None:
            frame = frame.caller  # a function of its own, which tidies up
            if frame.stage.staged or frame.guarded_in_loop():
                return
        loop = next(iter(host_loops(frame)), None)
        if loop is None or not loop.calls_jitted or _makes_anew(loop) or _measures(frame, loop):
            return
        report(
            event.node,
            "what is compiled is thrown away in every iteration, and compiled again in the next",
            reason=f"the loop at line {getattr(loop.node, 'lineno', '?')} calls jitted functions",
        )


def _makes_anew(loop: Loop) -> bool:
    """Whether the body makes or jits functions, or objects that may: each iteration may have programs of its own."""
    for node in ast.walk(loop.node):
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            return True
        if isinstance(node, (ast.Name, ast.Attribute)):
            name = node.id if isinstance(node, ast.Name) else node.attr
            if name in ("jit", "pmap", "filter_jit") or name.startswith(("make_", "build_", "create_")):
                return True
    return False


def _measures(frame: Frame, loop: Loop) -> bool:
    """Whether the body reads a clock: compilation may be what it measures."""
    clocks = ("time", "perf_counter", "perf_counter_ns", "monotonic", "timeit")
    return any(
        isinstance(node, ast.Call)
        and (node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", ""))
        in clocks
        for node in ast.walk(loop.node)
    )
