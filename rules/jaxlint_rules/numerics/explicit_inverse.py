"""Inverses of matrices that are computed for one product."""

from __future__ import annotations

import ast

from jaxlint.api import OperationEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import nodes_of
from jaxlint.api.values import Operation, shape_of
from jaxlint.finding import FixRequest, Severity
from jaxlint_rules._fixes import propose
from jaxlint_rules._names import is_new_axis, variable_given
from jaxlint_rules.numerics._expressions import made, rows_of
from jaxlint_rules.numerics._single_reads import is_read_here_alone

_LARGE = 16  # rows from which on a solve was measured to be faster
_PRODUCTS = ("matmul", "dot")


class ExplicitInverse(Rule):
    """A matrix is inverted for one product.

    ## What it does
    Finds `inv(a) @ b` and `b @ inv(a)` where nothing else reads the inverse. Matrices with up to 15
    known rows are not reported, and those of unknown size are advice (`info`).

    ## Why is this bad?
    `inv(a)` solves a system for each column of the identity, and the product follows. `solve(a, b)`
    solves it for the columns of `b` alone, and rounds less. On a CPU, for one vector, `inv` takes 6
    times as long for 16 rows and 3 times for 1024; for a matrix of condition number 10,000 in
    float32, its error is two to five times as large.

    ## Example
    ```python
    weights = jnp.linalg.inv(gram) @ moments
    ```

    ## Use instead
    ```python
    weights = jnp.linalg.solve(gram, moments)
    ```
    `b @ inv(a)` is `solve(a.T, b.T).T`. For a symmetric, positive matrix use
    `jax.scipy.linalg.cho_solve(cho_factor(a), b)`.

    ## Fix safety
    Unsafe: the last digits change. `inv(a) @ b` is rewritten where `a` is known to be one matrix: a
    batch of matrices with a batch of vectors needs another axis.

    ## When not to fix
    Keep it if the inverse is needed itself, or is read by several products. Inverses of matrices with
    new axes, which broadcast to many vectors, are not reported.

    ## References
    - [jax.numpy.linalg.solve](https://docs.jax.dev/en/latest/_autosummary/jax.numpy.linalg.solve.html)
    """

    code = "JAX1120"
    name = "explicit-inverse"
    category = "numerics"
    severity = Severity.WARNING
    fixable = "unsafe"

    @concerns(*_PRODUCTS)
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        if event.frame.module.is_test or len(event.operation.args) != 2:
            return
        for side, operand in enumerate(event.operation.args):
            inverse = made(operand, "linalg.inv", "inv")
            if (
                inverse is None
                or _has_new_axes(inverse, event.frame.owner)
                or not is_read_here_alone(inverse, event)
            ):
                continue
            rows = rows_of(inverse.args[0])
            if rows is not None and rows < _LARGE:
                continue
            report(
                event.node,
                f"one product reads this inverse; use `jnp.linalg.solve({'a.T, b.T).T' if side else 'a, b)'}`",
                reason=f"an inverse solves for all columns of the identity, {rows} here"
                if rows is not None
                else "an inverse solves for all columns of the identity",
                fix=None if side else _solve(event, report),
                severity=Severity.INFO if rows is None else None,
            )
            return


def _solve(event: OperationEvent, report: Reporter) -> FixRequest | None:
    """`solve(a, b)` for `inv(a) @ b`, where `a` is one matrix: for a batch of them, or in `dot` for a batch of `b`, the axes
    differ."""
    inverse, product = event.operation.args
    matrix, other = shape_of(inverse), shape_of(product)
    many = event.operation.name == "dot" and (other is None or len(other) > 2)
    if matrix is None or len(matrix) != 2 or many:
        return None
    return propose(report, event.node, "stable-form", "Use `jnp.linalg.solve`", safe=False)


def _has_new_axes(inverse: Operation, owner: ast.AST) -> bool:
    """Whether the matrices get axes of size one first: each inverse is then meant for many products."""
    matrix = inverse.node.args[0] if isinstance(inverse.node, ast.Call) and inverse.node.args else None
    if isinstance(matrix, ast.Name):
        given = [one.value for one in nodes_of(owner, ast.Assign) if variable_given(one) == matrix.id]
        matrix = given[0] if len(given) == 1 else None
    return isinstance(matrix, ast.Subscript) and any(is_new_axis(part) for part in ast.walk(matrix.slice))
