"""Callbacks with side effects, unordered writes, or a wrong result declaration."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from jaxlint.api import CallEvent, HostCallEvent, Reporter, Rule, Stage, concerns
from jaxlint.api.syntax import dotted, nodes_of
from jaxlint.api.values import (
    Array,
    DType,
    External,
    ExternalObject,
    NumpyArray,
    Static,
    TupleValue,
    Value,
    constant,
    dtype_named,
    is_none,
    shape_text,
    shapes_differ,
    short_source,
    symbolic_shape,
)
from jaxlint.finding import Severity
from jaxlint_rules._callables import argument
from jaxlint_rules._x64 import may_have_x64
from jaxlint_rules.api._host_functions import computes_with_jax, draws, effects_of, host_function, keeps_order
from jaxlint_rules.api._training import is_read, targets_of

_CALLBACKS = ("jax.pure_callback", "jax.experimental.io_callback")
_DEBUGGING = ("jax.debug.callback", "jax.debug.print")


class CallbackMisuse(Rule):
    """A callback is impure, or its result is declared wrongly.

    ## What it does
    Finds:

    - `jax.pure_callback` with a function that prints, writes, appends, counts, draws random numbers
      or calls JAX;
    - `jax.pure_callback` whose result nothing uses;
    - results declared as a dtype or a bare shape instead of `jax.ShapeDtypeStruct`, as 64 bits
      while x64 is off, as another number of arrays or another shape than the function returns, or as
      None although the program uses them;
    - a call of the function where the function itself belongs;
    - `io_callback` without `ordered=True` in a loop whose steps write one after another;
    - computations with the result of `jax.debug.callback`, which is always None, and functions that
      return it beside other results.

    ## Why is this bad?
    JAX may run a pure callback twice or not at all: XLA removes the call, with its side effects, if
    nothing uses the result. A result that is not a `ShapeDtypeStruct` raises at trace time, and so
    does one of 64 bits while x64 is off. Callbacks without `ordered=True` may run in any order, so
    rows of a log change places. A host function that calls JAX may deadlock: it waits for a device
    that waits for the callback. On the CPU the program hangs occasionally, or from some size on.

    ## Example
    ```python
    jax.pure_callback(lambda x: history.append(x), jax.ShapeDtypeStruct((), x.dtype), x)
    ```

    ## Use instead
    ```python
    jax.debug.callback(lambda x: history.append(x), x)
    ```
    Or use `jax.experimental.io_callback` if the effect must happen, with `ordered=True` if it must
    happen in order.

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Keep it if the side effect is only a cache of the function.

    ## References
    - [JAX: external callbacks](https://docs.jax.dev/en/latest/external-callbacks.html)
    """

    code = "JAX804"
    name = "callback-misuse"
    category = "api"
    severity = Severity.WARNING

    @concerns(*_CALLBACKS, *_DEBUGGING)
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        excused = report.module.is_test or event.is_caught()
        claim = None if excused else _calls_its_function(event)
        claim = claim or _uses_what_debugging_gives(event, report)
        if claim is None and event.name in _CALLBACKS and not excused:
            claim = _described_wrongly(event, report)
            if claim is None:
                claim = _impure(event, report) if event.name == "jax.pure_callback" else _unordered(event)
        if claim is not None:
            report(event.node, claim.message, reason=claim.reason, severity=claim.severity)

    def on_host_call(self, event: HostCallEvent, report: Reporter) -> None:
        """A result of another shape than the call declares."""
        declared, returned = event.declared, event.returned
        if declared is None or not isinstance(returned, NumpyArray) or not shapes_differ(returned, declared):
            return
        if report.module.is_test or event.is_caught() or event.frame.is_chosen_by_size():
            return
        told, made = symbolic_shape(declared), symbolic_shape(returned)
        if told is None or made is None:
            return
        report(
            event.node,
            f"the callback returns shape {shape_text(made)} but declares {shape_text(told)}: RuntimeError when it runs",
            reason="JAX compares each result with the `ShapeDtypeStruct`; declare the shape that is returned",
            severity=Severity.ERROR,
        )


@dataclass(frozen=True, slots=True)
class _Claim:
    """An error in the use of a callback, and how the analysis knows."""

    message: str
    reason: str
    severity: Severity = Severity.ERROR


def _calls_its_function(event: CallEvent) -> _Claim | None:
    called = _called_instead(event)
    if not called:
        return None
    return _Claim(
        f"`{event.name}` takes a function, not the result of `{called}`; pass `{called}` and then its arguments",
        f"`{called}(...)` is called at once, and its result is not callable",
    )


def _uses_what_debugging_gives(event: CallEvent, report: Reporter) -> _Claim | None:
    if event.name not in _DEBUGGING:
        return None
    message = f"`{event.name}` always returns None; use `jax.pure_callback` to get a value"
    if _result_is_used(event, report):
        return _Claim(message, "the program uses its result")
    if _is_returned_by_name(event, report):
        return _Claim(message, "the function returns its result beside others", Severity.WARNING)
    return None


def _described_wrongly(event: CallEvent, report: Reporter) -> _Claim | None:
    """The description of the result, compared with its use and with the function's return value."""
    described = argument(event, 1, "result_shape_dtypes")
    if described is not None and is_none(described) and _result_is_used(event, report):
        return _Claim(
            "this callback declares no result, so it returns None; declare it with `jax.ShapeDtypeStruct`",
            "the program uses the result",
        )
    if described is not None and _is_no_struct(described):
        return _Claim(
            "declare a callback's result with `jax.ShapeDtypeStruct(shape, dtype)`; a dtype or shape alone raises",
            "JAX reads the shape and the dtype of each leaf; one of them is missing",
        )
    if (
        described is not None
        and _wide(described)
        and event.frame.stage.staged
        and not may_have_x64(report, event.frame.module)
    ):
        return _Claim(
            "a 64-bit callback result raises ValueError while `jax_enable_x64` is off; declare 32 bits",
            "nothing that runs with this file enables `jax_enable_x64`",
        )
    wrong = _another_structure(described, event.args[0] if event.args else None)
    if not wrong:
        return None
    return _Claim(
        f"the callback returns {wrong}: it fails at run time; return what it declares",
        "the result must have the declared pytree structure",
    )


def _impure(event: CallEvent, report: Reporter) -> _Claim | None:
    """A `pure_callback` with a function that does more than compute on the host."""
    if event.discarded:
        return _Claim(
            "nothing uses the result of this `pure_callback`, so `jit` drops it; use `io_callback` for effects",
            "XLA removes pure computations whose result is unused",
            Severity.WARNING,
        )
    function = host_function(event.args[0]) if event.args else None
    if function is None:
        return None
    drawn = next(draws(function), None)
    if drawn is not None:
        return _Claim(
            f"this `pure_callback` draws random numbers (`{short_source(drawn)}`); use `io_callback`",
            "JAX may run a pure callback more than once, or once for several equal calls; a PRNG key or seed as an argument is fine",
            Severity.WARNING,
        )
    effect = next(effects_of(function), None)
    if effect is not None and not (_prints(effect) and _is_used(event, report)):
        return _Claim(
            f"this `pure_callback` has a side effect (`{short_source(effect)}`); use `io_callback`",
            "JAX may run a pure callback more than once, or not at all",
            Severity.WARNING,
        )
    called = next(computes_with_jax(function), None)
    if called is None:
        return None
    return _Claim(
        f"this `pure_callback` calls JAX (`{dotted(called.func)}`), which may deadlock; use NumPy in it",
        "the device waits for the callback, and the callback for the device",
        Severity.WARNING,
    )


def _unordered(event: CallEvent) -> _Claim | None:
    """An `io_callback` that writes in a loop without a guaranteed order."""
    if "ordered" in event.kwargs or "**" in event.kwargs or not event.args or not _in_loop(event.frame.stage):
        return None
    function = host_function(event.args[0])
    effect = next((e for e in effects_of(function) if keeps_order(e)), None) if function is not None else None
    if effect is None:
        return None
    return _Claim(
        f"`io_callback` in a loop may run out of order (`{short_source(effect)}`); pass `ordered=True`",
        "JAX does not order callbacks without `ordered=True`",
        Severity.WARNING,
    )


def _called_instead(event: CallEvent) -> str:
    """A function call in place of the callback, in words; "" if its result may be a function."""
    written = event.node.args[0] if isinstance(event.node, ast.Call) and event.node.args else None
    if event.name == "jax.debug.print" or not isinstance(written, ast.Call) or not event.args:
        return ""
    given = event.args[0]
    nothing = is_none(given) or (isinstance(given, Array) and given.certain)
    return dotted(written.func) if nothing else ""


def _another_structure(described: Value | None, callback: Value | None) -> str:
    """How a tuple returned by the host function differs from its description, in words; "" if it may not."""
    function = host_function(callback) if callback is not None else None
    if (
        function is None
        or isinstance(function.node, ast.Lambda)
        or getattr(function.node, "decorator_list", [])
    ):
        return ""
    returns = [n.value for n in nodes_of(function.node, ast.Return)]
    sizes = {len(v.elts) if isinstance(v, ast.Tuple) else None for v in returns}
    size = sizes.pop() if len(sizes) == 1 else None
    if size is None or any(isinstance(p, ast.Starred) for v in returns for p in getattr(v, "elts", ())):
        return ""
    if isinstance(described, ExternalObject) and described.name == "jax.ShapeDtypeStruct":
        return f"a tuple of {size} but declares one array"
    if isinstance(described, TupleValue) and described.items is not None and described.cls is None:
        return (
            f"a tuple of {size} but declares {len(described.items)} arrays"
            if len(described.items) != size
            else ""
        )
    return ""


def _in_loop(stage: Stage) -> bool:
    """Whether the innermost stage, apart from calls and branches, is a loop, and no `vmap` forbids ordered effects."""
    if stage.within("vmap", "pmap", "shard_map"):
        return False
    current: Stage | None = stage
    while current is not None and current.kind in ("jit", "cond", "checkpoint"):
        current = current.parent
    return current is not None and current.kind in ("scan", "while_loop", "fori_loop")


def _wide(value: Value) -> bool:
    """Whether a struct has a 64-bit dtype, by name."""
    if not isinstance(value, ExternalObject) or value.name != "jax.ShapeDtypeStruct":
        return False
    dtype = value.kwargs.get("dtype", value.args[1] if len(value.args) > 1 else None)
    if dtype is None or (isinstance(dtype, Static) and dtype.kind == "dtype"):
        return False
    if isinstance(dtype, External) and dtype.name in ("builtins.float", "builtins.int"):
        return True
    return dtype_named(dtype) in ("float64", "int64", "uint64", "complex128")


def _prints(effect: ast.AST) -> bool:
    return isinstance(effect, ast.Call) and dotted(effect.func) == "print"


def _is_used(event: CallEvent, report: Reporter) -> bool:
    """Whether the program uses the result, so that the callback runs."""
    targets = targets_of(event.node, report.module)
    function = event.frame.function
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    return function is not None and (not targets or any(is_read(name, function.node) for name in names))


def _result_is_used(event: CallEvent, report: Reporter) -> bool:
    """Whether a None result is used in a computation, or is read under its name."""
    if isinstance(report.module.parents.get(event.node), (ast.BinOp, ast.Compare, ast.Subscript)):
        return True
    function = event.frame.function
    return function is not None and any(
        isinstance(target, ast.Name) and _is_computed_with(target.id, function.node, report)
        for target in targets_of(event.node, report.module)
    )


def _is_returned_by_name(event: CallEvent, report: Reporter) -> bool:
    """`r = jax.debug.callback(f, ...)`, and `return state, r`, if `f` returns something."""
    host = host_function(event.args[0]) if event.args and event.name == "jax.debug.callback" else None
    if host is None or not any(
        statement.value is not None and not isinstance(statement.value, ast.Constant)
        for statement in nodes_of(host.node, ast.Return)
    ):
        return False
    function = event.frame.function
    names = {target.id for target in targets_of(event.node, report.module) if isinstance(target, ast.Name)}
    return function is not None and any(
        isinstance(part, ast.Name) and part.id in names
        for statement in nodes_of(function.node, ast.Return)
        if isinstance(statement.value, ast.Tuple)
        for part in statement.value.elts
    )


def _is_computed_with(name: str, function: ast.AST, report: Reporter) -> bool:
    return any(
        isinstance(report.module.parents.get(part), (ast.BinOp, ast.Subscript, ast.Call))
        for part in nodes_of(function, ast.Name)
        if part.id == name and isinstance(part.ctx, ast.Load)
    )


def _is_no_struct(value: Value) -> bool:
    if isinstance(value, (External, DType)) and getattr(value, "name", "").rpartition(".")[2].rstrip(
        "0123456789_"
    ) in (
        "float",
        "int",
        "bool",
        "bfloat",
        "uint",
    ):
        return True
    if isinstance(value, Static) and value.kind == "shape":
        return True
    if isinstance(value, TupleValue) and value.items is None:
        return isinstance(value.element, Static) and value.element.kind == "int"
    if isinstance(value, TupleValue) and value.items and value.cls is None:
        # A number among the parts is not a result description.
        return any(
            isinstance(part, Static) and (part.kind == "int" or type(part.const) is int)
            for part in value.items
        )
    const = constant(value)
    numbers = isinstance(value, TupleValue) and isinstance(const, tuple) and len(const) > 0
    return (numbers and all(type(n) is int for n in const)) or (
        isinstance(value, Static) and type(const) is int
    )
