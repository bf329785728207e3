"""Side effects, clocks and random numbers that run only at trace time."""

from __future__ import annotations

import ast
from itertools import takewhile

from jaxlint.api import CallEvent, ConvertEvent, Frame, Reporter, Rule, SideEffectEvent, concerns
from jaxlint.api.syntax import nodes_of, walk
from jaxlint.api.tables import LOGGER_MAKERS
from jaxlint.api.values import (
    External,
    ExternalMethod,
    ExternalObject,
    ListValue,
    Value,
    constant,
    find_array,
    short_source,
)
from jaxlint.finding import Severity
from jaxlint_rules._callables import argument
from jaxlint_rules._fixes import propose
from jaxlint_rules._generators import GENERATORS, NOT_DRAWS, RANDOM
from jaxlint_rules._names import last_name
from jaxlint_rules._reasons import staged_because

_CLOCKS = frozenset(
    [
        *(f"time.{n}" for n in ["time", "perf_counter", "monotonic", "process_time", "thread_time"]),
        *(f"time.{n}_ns" for n in ["time", "perf_counter", "monotonic", "process_time"]),
        *(f"datetime.datetime.{n}" for n in ["now", "utcnow", "today"]),
        *("datetime.date.today", "uuid.uuid1", "uuid.uuid4", "os.urandom"),
    ]
)
_LOGGERS = ("logging.", "absl.logging.", "loguru.logger.")
_LOGGING = frozenset(["debug", "info", "warning", "warn", "error", "critical", "exception", "log", "success"])
_TRACKERS = frozenset({"wandb.log", "mlflow.log_metric", "mlflow.log_metrics"})
_PRINTERS = frozenset(
    [
        *(
            "builtins.print",
            "pprint.pprint",
            "pprint.pp",
            "rich.print",
            "sys.stdout.write",
            "sys.stderr.write",
        ),
        *("warnings.warn", "tqdm.tqdm.write", "tqdm.auto.tqdm.write", "click.echo"),
    ]
)


_ONCE = ("time.sleep", "builtins.open", "builtins.next", "builtins.input")


class ImpureCall(Rule):
    """A side effect, clock or host random number in a traced function.

    ## What it does
    Finds in traced functions:

    - `time.time()`, `datetime.now()`, `uuid.uuid4()`, `os.urandom()` and other clocks and sources
      of entropy, and `time.sleep()`;
    - random numbers from `random` and `numpy.random`;
    - `next()` on an iterator from outside the function;
    - `print`, `logging`, `warnings.warn` and experiment trackers that receive tracers;
    - `input()`, and `open()` in a mode that writes;
    - updates of counters in outer variables or attributes.

    ## Why is this bad?
    These calls run once, at trace time. Later calls of the compiled function reuse the same value,
    print nothing and count nothing. What the print shows is a tracer, such as
    `JitTracer(float32[])`, not a value.

    ## Example
    ```python
    @jax.jit
    def noisy(x):
        return x + np.random.normal()
    ```

    ## Use instead
    ```python
    @jax.jit
    def noisy(x, key):
        return x + jax.random.normal(key)
    ```
    Print with `jax.debug.print("{}", x)`, log from a `jax.debug.callback`, and return counters as
    results.

    ## Fix safety
    Unsafe: `print` becomes `jax.debug.print`, with the values as arguments of a format string. It
    prints values on every run instead of tracers once, and each print copies values from the device
    to the host. Texts built with `+` or `%`, and calls with `end=` or `file=`, are not rewritten.
    The other cases have no automatic fix.

    ## When not to fix
    Keep it if you want a constant drawn at trace time. A seeded generator made inside the function
    (`np.random.default_rng(0)`) is not reported, nor is a call in a jitted function that another
    function defines and calls once: it is traced each time. Prints of shapes, dtypes and plain
    text, which show when JAX traces, and counters of traces are not reported either. A print that only
    a test compiles, or a notebook among the tests, is advice, as is one in a notebook, which shows
    what it prints at once.

    ## References
    - [JAX: pure functions](https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html#pure-functions)
    """

    code = "JAX202"
    name = "impure-call"
    category = "purity"
    severity = Severity.WARNING
    needs_whole_program = True
    fixable = "unsafe"

    def __init__(self) -> None:
        self.formatted: set[ast.AST] = set()  # expressions of tracers that become text
        self.drawn: dict[
            tuple[ast.AST, str], ast.AST
        ] = {}  # by function: the first place where it calls a clock or a generator

    def on_convert(self, event: ConvertEvent, report: Reporter) -> None:
        if event.how in ("str", "format_method") and _surely_traced(event.value):
            self.formatted.add(event.node)

    def on_side_effect(self, event: SideEffectEvent, report: Reporter) -> None:
        name = event.where.lower()
        if not event.makes_tracers():
            return  # nothing is compiled: code under `vmap` or `grad` alone runs at each call
        if (
            report.module.is_test
            or "trac" in name
            or "compil" in name
            or event.is_guarded()
            or _locked(event)
        ):
            return
        report(
            event.node,
            f"{event.where} changes at trace time only, not in compiled calls; return the new value",
            reason=staged_because(event.frame),
        )

    @concerns(*_ONCE, *RANDOM, *_LOGGERS, *_CLOCKS, *_PRINTERS, *_TRACKERS, callees=("ExternalMethod",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        stage = event.frame.stage
        if not stage.staged or not event.is_certain():
            return
        message = self.objection(event)
        if message and not _is_output(event):
            # A function with ten draws gets one finding.
            if self.drawn.setdefault((event.frame.owner, event.name), event.node) is not event.node:
                return
        if message:
            fix = None
            if event.name == "builtins.print":
                text = "Use `jax.debug.print`"
                fix = propose(report, event.node, "print-to-debug-print", text, safe=False)
            # What a test compiles to look at it, the program may never compile; a notebook shows at once what it prints.
            seen = _only_a_test_compiles(event) or event.frame.module.source.path.suffix == ".ipynb"
            severity = Severity.INFO if _is_output(event) and seen else None
            report(
                event.node,
                message,
                reason=staged_because(event.frame),
                fix=fix,
                severity=severity,
                shown=not _is_output(event),  # a print while tracing may be meant; a repeated number is not
            )

    def objection(self, event: CallEvent) -> str:
        """What is wrong with the call in traced code, or ""."""
        if _is_output(event):
            if event.is_caught() or not self.shows_tracer(event):
                return ""
            assert isinstance(event.node, ast.Call)
            called = ast.unparse(event.node.func)
            remedy = "`jax.debug.print`" if "print" in called else "`jax.debug.callback`"
            return f"`{called}` runs once, at trace time, and shows tracers; use {remedy}"
        if _draws_from_outer_generator(event):
            assert isinstance(event.node, ast.Call)
            called = ast.unparse(event.node.func)
            if _maps_only(event):
                return f"`{called}` runs once per call of `vmap`, so all rows get the same numbers; use `jax.random`"
            return f"`{called}` runs once, at trace time: compiled calls repeat its numbers; use `jax.random`"
        if not isinstance(event.callee, External):
            return ""
        name = event.name
        draws = name.startswith(RANDOM) and name.rpartition(".")[2] not in NOT_DRAWS
        if not event.makes_tracers() and not draws:
            return ""  # as above; but all rows of a `vmap` share the draw
        if name == "time.sleep":
            return "`time.sleep` runs once, at trace time: compiled calls do not sleep"
        if name == "builtins.open":
            mode = constant(argument(event, 1, "mode"))
            writes = isinstance(mode, str) and not {"w", "a", "x", "+"}.isdisjoint(mode)
            return (
                "`open` runs once, at trace time: compiled calls write nothing; use `io_callback`"
                if writes
                else ""
            )
        if name == "builtins.next":
            if not _takes_from_outside(event) or event.is_guarded():
                return ""
            assert isinstance(event.node, ast.Call)
            return f"`{short_source(event.node)}` runs once, at trace time: compiled calls reuse that item; pass it as an argument"
        if name not in _CLOCKS and not draws and name != "builtins.input":
            return ""
        if _traces_for_each_call(event.frame):
            return ""
        if event.is_guarded() or _is_fallback(event):
            return ""  # `if seed is None:`, and it is unknown who calls without one
        if event.frame.function is not None and event.frame.function.name in ("__enter__", "__exit__"):
            return ""  # a profiler's context manager, which may be meant to measure tracing
        short = name.replace("numpy.", "np.").replace("builtins.", "")
        if _maps_only(event):
            return (
                f"`{short}` runs once per call of `vmap`, so all rows get the same numbers; use `jax.random`"
            )
        return f"`{short}` runs once, at trace time: compiled calls repeat its value; pass it as an argument"

    def shows_tracer(self, event: CallEvent) -> bool:
        """Whether a tracer is among the arguments, or in a string that the call formats."""
        if any(_surely_traced(value) for value in [*event.args, *event.kwargs.values()]):
            return True
        return isinstance(event.node, ast.Call) and any(
            part in self.formatted for argument in event.node.args for part in walk(argument)
        )


def _maps_only(event: CallEvent) -> bool:
    """Whether only `vmap` traces the code, so that it runs at each call, once for all rows."""
    return event.frame.stage.within("vmap") and not event.makes_tracers()


def _surely_traced(value: Value) -> bool:
    found = find_array(value, True)
    return found is not None and found.certain


def _locked(event: SideEffectEvent) -> bool:
    """Whether a lock is held: code numbers objects for the whole process, at trace time too."""
    return any(
        "lock" in last_name(item.context_expr).lower()
        for around in event.frame.module.ancestors(event.node)
        if isinstance(around, ast.With)
        for item in around.items
    )


def _traces_for_each_call(frame: Frame) -> bool:
    """Whether the compiled function is nested in another, which calls it once: each call of it makes another, and traces that."""
    traced = [one for one in (frame, *frame.callers()) if one.home.staged and one.function is not None]
    function = traced[-1].function if traced else None
    if function is None or not isinstance(function.node, ast.FunctionDef):
        return False
    module, name = function.module, function.node.name
    if not any(last_name(getattr(mark, "func", mark)) == "jit" for mark in function.node.decorator_list):
        return False
    above = list(module.ancestors(function.node))
    owner = above[0] if above else None
    if not isinstance(owner, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False  # a loop, a class or a branch may run it again
    reads = [node for node in nodes_of(owner, ast.Name) if node.id == name and isinstance(node.ctx, ast.Load)]
    if len(reads) != 1:
        return False
    call = module.parents.get(reads[0])
    repeated = (ast.For, ast.While, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.Lambda, ast.FunctionDef)
    between = takewhile(lambda node: node is not owner, module.ancestors(reads[0]))
    called = isinstance(call, ast.Call) and call.func is reads[0]
    return called and not any(isinstance(node, repeated) for node in between)


def _is_fallback(event: CallEvent) -> bool:
    """Whether it only runs if another value is missing: `seed or draw()`."""
    below: ast.AST = event.node
    for above in event.frame.module.ancestors(event.node):
        if isinstance(above, ast.BoolOp) and above.values[0] is not below:
            return True
        if isinstance(above, ast.stmt):
            return False
        below = above
    return False


def _draws_from_outer_generator(event: CallEvent) -> bool:
    """A draw from a NumPy or Python generator created outside the traced code."""
    callee = event.callee
    if not isinstance(callee, ExternalMethod) or not isinstance(callee.receiver, ExternalObject):
        return False
    generator = callee.receiver
    if generator.name not in GENERATORS or callee.name in NOT_DRAWS or not isinstance(event.node, ast.Call):
        return False
    frame: Frame | None = event.frame
    while frame is not None and frame.home.staged:
        inside = frame.function.node if frame.function is not None else None
        if inside is not None and any(part is generator.node for part in walk(inside)):
            return False
        frame = frame.caller
    return generator.node is not None


def _takes_from_outside(event: CallEvent) -> bool:
    """`next(batches)` on an iterator created outside the traced code."""
    node = event.node
    if not isinstance(node, ast.Call) or len(node.args) != 1 or not isinstance(node.args[0], ast.Name):
        return False
    taken = event.args[0] if event.args else None
    keys = isinstance(taken, ExternalObject) and taken.name == "haiku.PRNGSequence"
    if not isinstance(taken, ListValue) and not keys:
        return False
    found = event.frame.scope.lookup(node.args[0].id)
    frame: Frame | None = event.frame
    while frame is not None and frame.home.staged:
        if found is None or found[1] is frame.scope:
            return False
        frame = frame.caller
    return found is not None and frame is not None


def _only_a_test_compiles(event: CallEvent) -> bool:
    """Whether the transformation around a call is made in a test, or in a notebook among them."""
    why = event.frame.stage.why
    return why is not None and why.module is not None and why.module.is_test


def _is_output(event: CallEvent) -> bool:
    """A call of `print`, of a logger or of an experiment tracker."""
    callee = event.callee
    if isinstance(callee, External):
        name = callee.name
        logs = name.startswith(_LOGGERS) and name.rpartition(".")[2] in _LOGGING
        return name in _PRINTERS or name in _TRACKERS or logs
    if isinstance(callee, ExternalMethod) and isinstance(callee.receiver, ExternalObject):
        return callee.receiver.name in LOGGER_MAKERS and callee.name in _LOGGING
    return False
