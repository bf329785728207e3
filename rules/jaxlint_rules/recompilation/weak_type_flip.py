"""Calls of one jitted function that differ only in a dtype."""

from __future__ import annotations

import ast
import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.tables import canonical_dtype, is_float, is_integer
from jaxlint.api.values import (
    Array,
    NumpyArray,
    Static,
    Transformed,
    Value,
    dtype_of,
    identity,
    kind_of_static,
)
from jaxlint.finding import FixRequest, Safety, Severity, Step
from jaxlint_rules._callables import jitted_call
from jaxlint_rules.recompilation._loop_state import Flip, LoopState, parameter_label, words


@dataclass(slots=True, eq=False)
class _Call:
    event: CallEvent
    target: Transformed
    dtypes: dict[str, str]


class WeakTypeFlip(Rule):
    """Calls of one jitted function differ in a dtype and recompile.

    ## What it does
    Finds two calls of a jitted function, in one function, that pass integers for a parameter here
    and floats there, or a Python number here and an array there. Also finds loops that pass a
    jitted function its own result in another dtype than the initial value: a running loss that
    starts as `0.0`, a state from `jnp.full(n, 0.0)`, an integer counter that is halved.

    ## Why is this bad?
    JAX compiles one program per dtype. A Python number is weakly typed, which counts as another
    dtype, and so is an array made from Python numbers alone: `jnp.asarray(0.0)`,
    `jnp.full(n, 0.0)`, `jnp.where(mask, 1.0, 0.0)`. The second call recompiles, which takes minutes
    for a large model. The program for integers may even give other results.

    ## Example
    ```python
    ramp = energy(jnp.arange(n), signal)
    flat = energy(jnp.ones(n), signal)

    running = 0.0
    for x in batches:
        params, running = step(params, running, x)
    ```

    ## Use instead
    ```python
    ramp = energy(jnp.arange(n, dtype=jnp.float32), signal)
    flat = energy(jnp.ones(n), signal)

    running = jnp.float32(0.0)
    for x in batches:
        params, running = step(params, running, x)
    ```

    ## Fix safety
    Unsafe: the fix writes an integer literal as a float where the other call passes a Python float
    (`2` becomes `2.0`), and converts the argument where the other call passes a float array
    (`jnp.float32(jnp.arange(n))`). Integer arithmetic in the function (`//`, indices) then gives
    other results.

    ## When not to fix
    Keep it if the function is meant for both dtypes and compiling it twice does not matter. State
    that starts weakly typed and stays so, such as a counter `step + 1`, compiles once and is not
    reported. In a file of a project the finding is advice: one more compilation, of unknown length.

    ## References
    - [JAX: weakly typed values](https://docs.jax.dev/en/latest/type_promotion.html#weakly-typed-values-in-jax)
    """

    code = "JAX404"
    name = "weak-type-flip"
    category = "recompilation"
    severity = Severity.WARNING
    fixable = "unsafe"

    def __init__(self) -> None:
        self.calls: dict[tuple[ast.AST, object], dict[ast.AST, _Call]] = {}
        self.state = LoopState()

    @concerns(callees=("Transformed",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        called, frame = jitted_call(event), event.frame
        if called is None:
            return
        callee, node = called
        names = report.signature(callee.target)
        static, certain = report.static_parameters(callee)
        if not certain or callee.kind == "filter_jit":
            return
        given = {names[n] if n < len(names) else f"#{n}": v for n, v in enumerate(event.args)} | event.kwargs
        given = {
            name: value
            for name, value in given.items()
            if name not in static and not (name in names and f"#{names.index(name)}" in static)
        }
        flip = self.state.see(event, callee, given)
        if flip is not None:
            self.tell(event, callee, flip, report)
        if frame.is_conditional():
            return
        dtypes = {name: _dtype(value) for name, value in given.items()}
        owner = frame.owner
        self.calls.setdefault((owner, identity(callee)), {})[node] = _Call(event, callee, dtypes)

    @staticmethod
    def tell(event: CallEvent, callee: Transformed, flip: Flip, report: Reporter) -> None:
        """State that returns in another dtype than its initial one."""
        report(
            event.node,
            f"`{callee.label}` recompiles: {flip.label} is {flip.start}, then {words(flip.after)}; {flip.advice}",
            reason=f"{callee.why.explain(report.module)}; it returns its state in another dtype, or with another weak type",
            shown=False,  # it compiles once more, and nothing says how long that takes
        )

    def finish(self, report: Reporter) -> None:
        for calls in self.calls.values():
            listed = sorted(calls.values(), key=_position)
            alike = _Alike(listed)
            for position, call in enumerate(listed):
                for other in alike.later(position):
                    if self.compare(call, listed[other], report):
                        break

    def compare(self, call: _Call, other: _Call, report: Reporter) -> bool:
        shared = call.dtypes.keys() & other.dtypes.keys()
        if call.dtypes.keys() != other.dtypes.keys():
            return False
        differing = [n for n in shared if _differ(call.dtypes[n], other.dtypes[n])]
        if len(differing) != 1 or not _same_otherwise(call, other):
            return False
        name = differing[0]
        worse, better = (
            (call, other) if _rank(call.dtypes[name]) <= _rank(other.dtypes[name]) else (other, call)
        )
        event = worse.event
        report.event = event
        report(
            event.node,
            f"`{call.target.label}` recompiles: {parameter_label(name)} is {_words(worse.dtypes[name])} here and "
            f"{_words(better.dtypes[name])} at line {getattr(better.event.node, 'lineno', '?')}; pass one type",
            reason=f"{call.target.why.explain(report.module)}; JAX compiles one program per dtype",
            fix=_converted(worse, better, name, report),
            shown=False,
        )
        return True


class _Alike:
    """The calls that differ from another in one argument's source and in a dtype. All pairs would be too many for
    thousands of calls."""

    def __init__(self, calls: Sequence[_Call]) -> None:
        self.keys = [list(_but_for_one(call)) for call in calls]
        self.kinds = [tuple(sorted(call.dtypes.items())) for call in calls]
        # positions, by the common part, then by dtypes
        self.found: dict[object, dict[object, list[int]]] = {}
        for position, keys in enumerate(self.keys):
            for key in keys:
                self.found.setdefault(key, {}).setdefault(self.kinds[position], []).append(position)

    def later(self, position: int) -> list[int]:
        """For each other combination of dtypes, the first call after this one, in order."""
        first = set()
        for key in self.keys[position]:
            for kind, positions in self.found[key].items():
                if kind != self.kinds[position] and (at := bisect.bisect(positions, position)) < len(
                    positions
                ):
                    first.add(positions[at])
        return sorted(first)


def _but_for_one(call: _Call) -> Iterator[tuple[object, ...]]:
    """For each argument of a call, the source of the others."""
    node = _node(call)
    written = [(None, ast.unparse(part)) for part in node.args]
    written += [(one.arg, ast.unparse(one.value)) for one in node.keywords]  # type: ignore[misc]
    for number in range(len(written)):
        yield (number, written[number][0], *written[:number], *written[number + 1 :])


def _converted(worse: _Call, better: _Call, name: str, report: Reporter) -> FixRequest | None:
    """The argument of one call in the dtype of the other's, if that is a float."""
    dtypes = worse.dtypes[name], better.dtypes[name]
    arguments = _differing(worse, better)
    if arguments is None or not is_float(dtypes[1].removesuffix("*")):
        return None
    argument = arguments[0]
    if dtypes == ("int*", "float*"):
        if isinstance(argument, ast.Name | ast.Attribute):
            return None  # the source of its value may need an integer
        codemod, parameters, told = "float-literal", {}, "a Python float"
    elif not dtypes[1].endswith("*"):
        codemod, parameters, told = "wrap-expression", {"function": f"jax.numpy.{dtypes[1]}"}, dtypes[1]
    else:
        return None
    step = Step(codemod, report.path, report.span(argument), parameters)
    return FixRequest(Safety.UNSAFE, f"Pass {parameter_label(name)} as {told}", (step,))


def _same_otherwise(call: _Call, other: _Call) -> bool:
    """Whether only one argument is written differently: the calls compute the same thing for another value."""
    return _differing(call, other) is not None


def _differing(call: _Call, other: _Call) -> tuple[ast.expr, ast.expr] | None:
    """The argument in which two calls differ, if it is only one."""
    left, right = (
        [(None, part) for part in node.args] + [(one.arg, one.value) for one in node.keywords]
        for node in (_node(call), _node(other))
    )
    if len(left) != len(right):
        return None
    written = [
        (a, b)
        for (one, a), (two, b) in zip(left, right, strict=True)
        if one != two or ast.unparse(a) != ast.unparse(b)
    ]
    return written[0] if len(written) == 1 else None


def _node(call: _Call) -> ast.Call:
    assert isinstance(call.event.node, ast.Call)
    return call.event.node


def _position(call: _Call) -> tuple[int, int]:
    node = _node(call)
    return node.lineno, node.col_offset


def _dtype(value: Value) -> str:
    if isinstance(value, Static):
        kind = kind_of_static(value)
        return {"int": "int*", "float": "float*"}.get(kind, "")
    if isinstance(value, Array) and not value.tree and value.certain:
        made = value.made
        if made is not None and made.name == "arange" and len(made.args) == 1 and not made.kwargs:
            return dtype_of(value) or "int32"  # for an unknown number, which is rarely a float
        return dtype_of(value)
    if isinstance(value, NumpyArray):
        return canonical_dtype(value.dtype)
    return ""


def _differ(left: str, right: str) -> bool:
    if not left or not right or left == right:
        return False
    numbers = all(is_float(d) or is_integer(d) for d in (left, right))
    return numbers and (is_float(left) != is_float(right) or left.endswith("*") != right.endswith("*"))


def _rank(dtype: str) -> int:
    return 0 if is_integer(dtype) else 1 if dtype.endswith("*") else 2


def _words(dtype: str) -> str:
    return {"int*": "a Python int", "float*": "a Python float"}.get(dtype, dtype)
