"""Python lists and tuples passed to array functions."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Frame, OperationEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import all_parameters, names_stored, nodes_of
from jaxlint.api.values import Array, ListValue, TupleValue, Value, short_source
from jaxlint.finding import FixRequest, Safety, Severity, Step
from jaxlint_rules._names import names_in
from jaxlint_rules._reasons import is_parameter
from jaxlint_rules._slices import sources

# Each raises TypeError for a list or a tuple.
_STRICT = frozenset(
    f"jax.numpy.{name}"
    for name in [
        "sum",
        "mean",
        "max",
        "min",
        "prod",
        "var",
        "std",
        "median",
        "any",
        "all",
        "argmax",
        "argmin",
        "cumsum",
        "cumprod",
        "sort",
        "argsort",
        "exp",
        "log",
        "sqrt",
        "sin",
        "cos",
        "tanh",
        "abs",
        "square",
        "dot",
        "matmul",
        "reshape",
        "expand_dims",
        "take",
        "clip",
        "allclose",
        "transpose",
        "squeeze",
        "flip",
        "ravel",
        "log1p",
        "expm1",
        "maximum",
        "minimum",
        "add",
        "subtract",
        "multiply",
        "divide",
        "linalg.norm",
    ]
)
# Functions of two arrays.
_BINARY = frozenset(
    f"jax.numpy.{name}"
    for name in ["dot", "matmul", "maximum", "minimum", "add", "subtract", "multiply", "divide", "allclose"]
)


class ListArgument(Rule):
    """A Python list or tuple is passed to an array function.

    ## What it does
    Finds `jnp.sum([1.0, 2.0])` and similar calls, and arithmetic between an array and a list or
    tuple: `points + (0.5, 0.5)`.

    ## Why is this bad?
    NumPy converts lists. JAX raises `TypeError: sum requires ndarray or scalar arguments`, because
    converting element by element is slow. Functions that join arrays (`concatenate`, `stack`) do
    accept lists.

    ## Example
    ```python
    losses = [a.mean(), b.mean()]
    total = jnp.sum(losses)
    ```

    ## Use instead
    ```python
    losses = [a.mean(), b.mean()]
    total = jnp.sum(jnp.stack(losses))
    ```
    Or use `sum(losses)`. For a list of numbers, use `jnp.array([...])`.

    ## Fix safety
    Safe: the call raised before. `jnp.sum(losses)` becomes `jnp.sum(jnp.array(losses))`.

    ## When not to fix
    Always fix it: the call raises.

    ## References
    - [JAX: non-array inputs](https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html#non-array-inputs-numpy-vs-jax)
    """

    code = "JAX802"
    name = "list-argument"
    category = "api"
    severity = Severity.ERROR
    needs_whole_program = True
    fixable = "safe"
    follows_calls = True

    def __init__(self) -> None:
        self.raising: set[ast.AST] = (
            set()
        )  # operators that raise: a computation with their results is never reached

    @concerns(*_STRICT)
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if event.name not in _STRICT or not event.args or event.is_caught():
            return
        count = 2 if event.name in _BINARY else 1
        listed = [index for index, value in enumerate(event.args[:count]) if _is_plain_sequence(value)]
        nodes = event.node.args if isinstance(event.node, ast.Call) else []
        if not listed or any(isinstance(node, ast.Starred) for node in nodes):
            return
        if any(index < len(nodes) and _may_be_another(nodes[index], event.frame) for index in listed):
            return
        short = event.name.replace("jax.numpy.", "jnp.")
        kind = "list" if isinstance(event.args[listed[0]], ListValue) else "tuple"
        steps = [
            Step("wrap-call", report.path, report.span(nodes[index]), {"function": "jax.numpy.array"})
            for index in listed
            if index < len(nodes)
        ]
        report(
            event.node,
            f"`{short}` of a {kind} raises TypeError; use `jnp.array` or `jnp.stack` first",
            reason=f"the argument is a Python {kind}, which JAX functions do not convert",
            fix=FixRequest(Safety.SAFE, "Convert to an array", tuple(steps)) if steps else None,
        )

    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        node, values = event.node, event.operation.args
        if not isinstance(node, (ast.BinOp, ast.AugAssign)) or len(values) != 2:
            return
        left, right = values
        texts = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)
        for listed, text, array in ((left, texts[0], right), (right, texts[1], left)):
            if not _is_plain_sequence(listed) or not _is_array(array) or event.is_caught():
                continue
            if _may_be_another(text, event.frame):
                continue
            self.raising.add(node)
            inner = array.made.node if isinstance(array, Array) and array.made is not None else None
            if inner is not node and inner in self.raising and node in report.module.ancestors(inner):
                return
            kind = "list" if isinstance(listed, ListValue) else "tuple"
            step = Step("wrap-call", report.path, report.span(text), {"function": "jax.numpy.array"})
            report(
                node,
                f"an operator on an array and a {kind} raises TypeError; convert the {kind} with `jnp.array`",
                reason=f"`{short_source(text)}` is a Python {kind}, which JAX operators do not convert",
                fix=FixRequest(Safety.SAFE, "Convert to an array", (step,))
                if isinstance(node, ast.BinOp) or text is node.value
                else None,
            )


def _may_be_another(node: ast.AST, frame: Frame) -> bool:
    """Whether it is a parameter of a function without visible calls, or one that tests its argument first; or
    the result of a function that the caller passes together with the tested values.
    """
    if is_parameter(node, frame):
        return not frame.is_called() or frame.is_conditional()
    return _comes_from_given(node, frame) and any(one.is_conditional() for one in (frame, *frame.callers()))


def _comes_from_given(node: ast.AST, frame: Frame) -> bool:
    """Whether a value is computed from the result of a function parameter: only the callers know which branch
    is right for which function.
    """
    function = frame.function
    if function is None or isinstance(function.node, ast.Lambda):
        return False
    given = {parameter.arg for parameter in all_parameters(function.node)}
    needed = sources(names_in(node), function.node)
    return any(
        isinstance(statement.value, ast.Call)
        and isinstance(statement.value.func, ast.Name)
        and statement.value.func.id in given
        and bool(needed & names_stored(statement))
        for statement in nodes_of(function.node, ast.Assign)
    )


def _is_array(value: Value) -> bool:
    if not isinstance(value, Array) or not value.certain or value.tree or value.role == "ref":
        return False
    return value.staged or value.made is not None  # not a value that a library only presumably returns


def _is_plain_sequence(value: Value) -> bool:
    """A list or a tuple, not a named tuple."""
    if isinstance(value, ListValue):
        return value.kind == "list"
    return isinstance(value, TupleValue) and value.cls is None and value.items is not None
