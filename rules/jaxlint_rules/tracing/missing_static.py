"""Arguments that JAX cannot trace, passed for a parameter that is not static."""

from __future__ import annotations

import ast

from jaxlint.api import Reporter, Rule, TextComparisonEvent, TracedArgumentEvent
from jaxlint.api.tables import STATIC_JIT_KINDS
from jaxlint.api.values import (
    ClassValue,
    DictValue,
    External,
    Function,
    Instance,
    ListValue,
    NumpyArray,
    Static,
    Value,
)
from jaxlint.finding import Severity
from jaxlint_rules._fixes import declare_static
from jaxlint_rules._pytrees import untraceable
from jaxlint_rules._reasons import traced
from jaxlint_rules._signatures import decorators_below, signature_of


class MissingStatic(Rule):
    """An argument that JAX cannot trace is passed for a traced parameter.

    ## What it does
    Finds calls of jitted functions that pass something other than arrays and numbers for a
    parameter that is not declared static: a string, an enum member, a function, a class, a dtype, a
    range, an optimizer, a linen module or an instance of an ordinary class, alone or inside a list,
    tuple or dict. A method jitted without `self` as a static argument is one such case. Also finds
    a traced parameter that the function compares with strings.

    ## Why is this bad?
    JAX traces arrays and numbers, in pytrees of them. Anything else raises
    `TypeError: Error interpreting argument to ... as an abstract array`.

    ## Example
    ```python
    @jax.jit
    def normalise(x, mode): ...

    normalise(x, "layer")
    ```

    ## Use instead
    ```python
    @partial(jax.jit, static_argnames="mode")
    def normalise(x, mode): ...

    normalise(x, "layer")
    ```
    An object that lives as long as the program (a model, an optimizer, an activation function) can
    also be captured from the enclosing scope, or bound with `partial` before `jax.jit`. Register a
    class as a pytree with `jax.tree_util.register_dataclass`, or make it hashable and pass it as a
    static argument. A flag passed as a number is traced and cannot decide an `if`;
    [tracer-branch](tracer-branch.md) reports that.

    ## Fix safety
    Unsafe: the fix adds `static_argnames` where the function is jitted, for strings, enum members,
    dtypes, types and named functions. Callers that pass an array for the parameter then fail, and
    each new value recompiles the function. Objects, lambdas and `self` have no automatic fix.

    ## When not to fix
    A parameter that the call leaves out keeps its default, even a string. `eqx.filter_jit` treats
    everything that is not an array as static. Neither is reported.

    ## References
    - [jax.jit: static_argnames](https://docs.jax.dev/en/latest/_autosummary/jax.jit.html)
    - [JAX: using jax.jit with methods](https://docs.jax.dev/en/latest/faq.html#how-to-use-jit-with-methods)
    """

    code = "JAX111"
    name = "missing-static"
    category = "tracing"
    severity = Severity.ERROR
    follows_calls = True
    fixable = "unsafe"

    def __init__(self) -> None:
        self.called: set[tuple[str, str]] = set()  # parameters of jitted functions that a visible call fills
        self.compared: list[TextComparisonEvent] = []
        self.instances: list[TracedArgumentEvent] = []

    def on_traced_argument(self, event: TracedArgumentEvent, report: Reporter) -> None:
        if isinstance(event.value, NumpyArray):
            return
        t = event.transformed
        self.called.add((t.label, event.parameter))
        if t.kind not in STATIC_JIT_KINDS or event.is_caught():
            return
        if isinstance(event.value, Instance):
            self.instances.append(event)  # the subclasses are known at the end
        else:
            self.tell(event, report)

    def tell(self, event: TracedArgumentEvent, report: Reporter) -> None:
        t = event.transformed
        what = untraceable(event.value, nnx=t.kind == "nnx.jit")
        if not what:
            return
        method = isinstance(event.value, Instance) and event.parameter == "self"
        place: ast.AST = event.argument or event.node
        objection = ""
        if method:
            if t.module is event.frame.module and t.why.node is not None:
                place = t.why.node  # one finding for the method, not one for each of its calls
            message = f"jit traces `self` of `{t.label}`, but {what} raises TypeError; make it static"
        elif objection := _objection(event):
            message = f"jit cannot trace {what}, and {objection}"
        else:
            message = f"jit traces `{event.parameter}` of `{t.label}`, but {what} raises TypeError; {_instead(event.value)}"
        fix = None
        if is_hashable_constant(event.value) and not method and not objection:
            fix = declare_static(t.node, t.module, event.parameter)
        report(place, message, reason=t.why.explain(report.module), fix=fix)

    def on_text_comparison(self, event: TextComparisonEvent, report: Reporter) -> None:
        if event.value.certain and not event.is_guarded():
            self.compared.append(event)

    def finish(self, report: Reporter) -> None:
        """Instances, and comparisons with strings if no visible call passes the argument."""
        for instance in self.instances:
            report.event = instance
            self.tell(instance, report)
        seen: set[tuple[str, str]] = set()
        for event in self.compared:
            why = event.value.why
            assert why is not None
            label = why.cause.function if why.cause is not None else ""
            if (label, why.parameter) in self.called or (label, why.parameter) in seen:
                continue
            seen.add((label, why.parameter))
            report.event = event
            message = (
                f"jit traces `{why.parameter}` of `{label}`, but a string raises TypeError; declare it static"
            )
            made = why.cause
            fix = declare_static(made.node, made.module, why.parameter) if made is not None else None
            report(event.node, message, reason=traced(event, event.value), fix=fix)


def _instead(value: Value) -> str:
    """What to do with an argument that JAX cannot trace: only a hashable one can be static."""
    if isinstance(value, ListValue):
        return "make it a static frozenset" if value.kind == "set" else "make it a static tuple"
    return "take it out of the dict" if isinstance(value, DictValue) else "declare it static"


def _objection(event: TracedArgumentEvent) -> str:
    """What is wrong with the name of a keyword that the function lacks, otherwise ""."""
    t = event.transformed
    if not isinstance(event.node, ast.Call) or event.parameter not in {k.arg for k in event.node.keywords}:
        return ""
    signature = signature_of(t.target, decorators_below(t, t.why.node))
    return signature.objection_to_name(event.parameter, t.label) if signature is not None else ""


def is_hashable_constant(value: Value) -> bool:
    """Whether the value can be a static argument, and is the same object at every call."""
    named = isinstance(value, Function) and not isinstance(value.node, ast.Lambda)
    return isinstance(value, (Static, External, ClassValue)) or named
