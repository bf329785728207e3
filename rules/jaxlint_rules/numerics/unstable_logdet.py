"""Logarithms of determinants, which overflow or underflow."""

from __future__ import annotations

import ast

from jaxlint.api import OperationEvent, Reporter, Rule, concerns
from jaxlint.finding import Severity
from jaxlint_rules._fixes import propose
from jaxlint_rules.numerics._expressions import made, rows_of, without_views
from jaxlint_rules.numerics._single_reads import is_read_here_alone

_SMALL = 4  # rows of a matrix whose determinant stays in range
_LARGE = 20


class UnstableLogdet(Rule):
    """The logarithm of a determinant overflows or underflows.

    ## What it does
    Finds `log(det(a))` and `log(abs(det(a)))`.

    ## Why is this bad?
    The determinant is a product of as many numbers as the matrix has rows. That of `0.1 * eye(100)`
    is 0 in float32, and that of `10 * eye(50)` is infinite; the logarithms are -230.3 and 115.1.
    `slogdet` adds the logarithms instead.

    ## Example
    ```python
    logdet = jnp.log(jnp.linalg.det(covariance))
    ```

    ## Use instead
    ```python
    logdet = jnp.linalg.slogdet(covariance)[1]
    ```

    ## Fix safety
    Unsafe: the last digits change, and the logarithm of a negative determinant, which is NaN, becomes
    that of its absolute value. Variables that nothing else reads are removed.

    ## When not to fix
    Keep it for matrices of a few rows. Up to four known rows are not reported, and neither is a
    determinant that is also read elsewhere. In a file of a project it is advice unless the matrix is
    seen to have 20 rows.

    ## References
    - [jax.numpy.linalg.slogdet](https://docs.jax.dev/en/latest/_autosummary/jax.numpy.linalg.slogdet.html)
    """

    code = "JAX1119"
    name = "unstable-logdet"
    category = "numerics"
    severity = Severity.WARNING
    fixable = "unsafe"

    @concerns("log")
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        if event.frame.module.is_test or not event.operation.args or not isinstance(event.node, ast.Call):
            return
        inner = without_views(event.operation.args[0])
        absolute = made(inner, "abs", "absolute")
        determinant = made(without_views(absolute.args[0]) if absolute else inner, "linalg.det", "det")
        if determinant is None or not is_read_here_alone(determinant, event):
            return  # a program that compares the determinant, or guards its sign, needs it
        rows = rows_of(determinant.args[0])
        if rows is not None and rows <= _SMALL:
            return
        size = "n rows" if rows is None else f"{rows} rows"
        report(
            event.node,
            "a determinant overflows or underflows before its logarithm; use `jnp.linalg.slogdet(a)[1]`",
            reason=f"the determinant of a matrix of {size} is a sum of products of that many numbers",
            fix=propose(report, event.node, "stable-form", "Use `jnp.linalg.slogdet`", safe=False),
            shown=rows is not None and rows >= _LARGE,  # small covariances stay in the range
        )
