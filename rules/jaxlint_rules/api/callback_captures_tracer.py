"""Callbacks that capture tracers instead of taking them as arguments."""

from __future__ import annotations

import ast

from jaxlint.api import HostCallEvent, Reporter, Rule
from jaxlint.api.syntax import all_parameters, name_loads, names_stored
from jaxlint.api.values import Array, Function, Partial, find_array
from jaxlint.finding import Severity
from jaxlint_rules._reasons import traced

_METADATA = frozenset({"shape", "ndim", "dtype", "size", "weak_type", "aval", "itemsize"})


class CallbackCapturesTracer(Rule):
    """A callback captures a tracer.

    ## What it does
    Finds functions passed to `jax.debug.callback`, `jax.pure_callback` and `io_callback` that read
    a traced variable of the enclosing function, or have one bound by `functools.partial`.

    ## Why is this bad?
    A callback runs later, on the host, with concrete values of its arguments. A captured variable
    is still the tracer: printing it shows `JitTracer(float32[])`, and computing with it raises
    `UnexpectedTracerError` in the callback.

    ## Example
    ```python
    jax.debug.callback(lambda: print("loss", loss))
    ```

    ## Use instead
    ```python
    jax.debug.callback(lambda loss: print("loss", loss), loss)
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Always fix it. Shapes and dtypes of captured arrays are static and may be read.

    ## References
    - [JAX: external callbacks](https://docs.jax.dev/en/latest/external-callbacks.html)
    """

    code = "JAX813"
    name = "callback-captures-tracer"
    category = "api"
    severity = Severity.ERROR
    follows_calls = True

    def on_host_call(self, event: HostCallEvent, report: Reporter) -> None:
        if event.is_guarded():
            return
        function = event.function
        if isinstance(function, Partial):
            bound = next((v for v in [*function.args, *function.kwargs.values()] if _is_tracer(v)), None)
            array = find_array(bound, True) if bound is not None else None
            if array is not None:
                self.tell(event, event.node, "a tracer", array, report)
            function = function.function
        if not isinstance(function, Function) or function.module is not report.module:
            return
        own = {parameter.arg for parameter in all_parameters(function.node)} | names_stored(function.node)
        for name in name_loads(function.node):
            if name.id in own or _asks_metadata(name, report):
                continue
            held = function.scope.value_of(name.id)
            if held is not None and _is_tracer(held):
                found = find_array(held, True)
                assert found is not None
                self.tell(event, name, f"the tracer `{name.id}`", found, report)
                return

    @staticmethod
    def tell(event: HostCallEvent, node: ast.AST, what: str, array: Array, report: Reporter) -> None:
        report(
            node,
            f"the callback captures {what}, which has no value when it runs; pass it as an argument",
            reason=traced(event, array),
        )


def _is_tracer(value: object) -> bool:
    return isinstance(value, Array) and value.staged and value.certain and value.role != "ref"


def _asks_metadata(node: ast.Name, report: Reporter) -> bool:
    parent = report.module.parents.get(node)
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "len":
        return True
    return isinstance(parent, ast.Attribute) and parent.attr in _METADATA
