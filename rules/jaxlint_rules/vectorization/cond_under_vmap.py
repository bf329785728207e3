"""Conditionals that `vmap` turns into a select of both results."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Frame, OperationEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import all_parameters, names_stored, nodes_of
from jaxlint.api.values import Array, Function, Value
from jaxlint.finding import Severity
from jaxlint_rules._mapped import is_mapped, mapping
from jaxlint_rules._reasons import staged_because

# Operations expensive enough to branch around.
_HEAVY = frozenset(
    """linalg.svd linalg.eigh linalg.eig linalg.qr linalg.solve linalg.inv linalg.cholesky linalg.lstsq linalg.pinv
    linalg.det linalg.slogdet linalg.expm matmul dot einsum tensordot conv_general_dilated fft.fft fft.ifft fft.fft2
    fft.rfft fft.irfft sort argsort scan while_loop fori_loop convolve""".split()  # noqa: SIM905
)
_LIGHT = frozenset({"sort", "argsort"})  # of a row, which is usually short
_BRANCHES = frozenset({"jax.lax.cond", "jax.lax.switch"})


class CondUnderVmap(Rule):
    """`lax.cond` under `vmap` runs both branches.

    ## What it does
    Finds `lax.cond` and `lax.switch` whose predicate depends on a mapped argument of a `vmap`, and
    whose branches are expensive: a decomposition, a solve, a matrix product, a loop.

    ## Why is this bad?
    A mapped predicate differs between rows, so `vmap` turns the conditional into a `select`: every
    branch runs for every row, and the results are selected afterwards. The conditional does not
    save the expensive branch.

    ## Example
    ```python
    def solve(a, b):
        return jax.lax.cond(is_diagonal(a), cheap, expensive, a, b)

    jax.vmap(solve)(many_a, many_b)
    ```

    ## Use instead
    ```python
    jax.lax.map(lambda ab: solve(*ab), (many_a, many_b))  # one row at a time: each runs one branch
    ```
    Or select the rows that need the expensive branch, and run it only on them.

    ## Fix safety
    There is no automatic fix: `lax.map` does not run rows in parallel, and which version is faster
    depends on how often each branch is taken.

    ## When not to fix
    Keep it if both branches are needed often, or if the conditional guards against invalid values
    rather than cost. Where one branch gives back what it got, as one that augments an image or leaves
    it, it is advice. So are branches that sort and do nothing more expensive, and rows of several
    kinds (`lax.switch(kind, ...)`, `lax.cond(kind == 0, ...)`), each of which needs its branch.

    A `lax.while_loop` in a branch is reported as advice: a search for each row is often meant.

    ## References
    - [JAX: `lax.cond`](https://docs.jax.dev/en/latest/_autosummary/jax.lax.cond.html)
    """

    code = "JAX707"
    name = "cond-under-vmap"
    category = "vectorization"
    severity = Severity.WARNING
    needs_whole_program = True

    def __init__(self) -> None:
        self.heavy: dict[ast.AST, str] = {}  # function -> an expensive operation that it runs
        self.branches: dict[ast.AST, tuple[CallEvent, list[Function]]] = {}

    @concerns(*_HEAVY)
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        if event.operation.name in _HEAVY:
            self.note(event.operation.name, event.frame)

    def note(self, name: str, frame: Frame) -> None:
        current: Frame | None = frame
        while current is not None and current.stage.staged:
            if current.function is not None:
                self.heavy.setdefault(current.function.node, name)
            current = current.caller

    @concerns(*_BRANCHES, *(f"jax.lax.{name}" for name in _HEAVY))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if event.name.startswith("jax.lax.") and event.name.rpartition(".")[2] in _HEAVY:
            self.note(event.name.rpartition(".")[2], event.frame)
        if event.name not in _BRANCHES or not event.args or event.frame.module.is_test:
            return
        mapped = mapping(event.frame.stage)
        predicate = event.args[0]
        if (
            mapped is None
            or not isinstance(predicate, Array)
            or not predicate.staged
            or not predicate.certain
        ):
            return
        if not is_mapped(predicate, mapped):
            return
        functions = [
            value for part in [*event.args[1:], *event.kwargs.values()] for value in _functions(part)
        ]
        self.branches.setdefault(event.node, (event, functions))

    def finish(self, report: Reporter) -> None:
        for node, (event, functions) in self.branches.items():
            heavy = next((self.heavy[f.node] for f in functions if f.node in self.heavy), "")
            if heavy:
                report.event = event
                api = event.name.replace("jax.lax", "lax")
                report(
                    node,
                    f"`{api}` under `vmap` runs all branches for every row; move `{heavy}` out of them",
                    reason=f"its predicate is mapped; {staged_because(event.frame)}",
                    severity=Severity.INFO
                    if heavy in (*_LIGHT, "while_loop")
                    or _tells_kinds(event)
                    or any(map(_gives_back, functions))
                    else None,
                )


def _tells_kinds(event: CallEvent) -> bool:
    """Whether rows are of several kinds, by a number: `lax.switch(kind, ...)`, `lax.cond(kind == 0, ...)`. Each row needs the branch
    of its kind then, and there is no cheap one that most rows take."""
    asked = event.node.args[0] if isinstance(event.node, ast.Call) and event.node.args else None
    return event.name.endswith("switch") or (
        isinstance(asked, ast.Compare) and isinstance(asked.ops[0], ast.Eq) and len(asked.ops) == 1
    )


def _gives_back(function: Function) -> bool:
    """Whether a branch returns one of its arguments as it is: `lambda x: x`."""
    node = function.node
    returned = [part.value for part in nodes_of(node, ast.Return)]
    body = node.body if isinstance(node, ast.Lambda) else returned[0] if len(returned) == 1 else None
    return (
        isinstance(body, ast.Name)
        and body.id in {one.arg for one in all_parameters(node)}
        and body.id not in names_stored(node)
    )


def _functions(value: Value) -> list[Function]:
    if isinstance(value, Function):
        return [value]
    inner = getattr(value, "function", None) or getattr(value, "target", None)
    if isinstance(inner, Function):
        return [inner]
    elements = getattr(value, "elements", None)
    return [found for part in elements() for found in _functions(part)] if callable(elements) else []
