"""Functions differentiated with respect to an argument that they never read."""

from __future__ import annotations

import ast

from jaxlint.api import Reporter, Rule, TransformEvent
from jaxlint.api.syntax import positional_parameters, walk
from jaxlint.api.values import BoundMethod, Function, Partial, Transformed, Value, constant
from jaxlint.finding import Severity

_KINDS = frozenset({"grad", "value_and_grad"})


class UnusedDifferentiatedArgument(Rule):
    """A gradient is taken with respect to an argument that is never read.

    ## What it does
    Finds `jax.grad(f)` and `jax.value_and_grad(f)` where the body of `f` does not use the
    differentiated parameter.

    ## Why is this bad?
    The gradient is zero everywhere, without an exception. Usually the loss reads a variable of the
    enclosing function instead of its own parameter, and the model never learns.

    ## Example
    ```python
    def loss(p):
        return jnp.mean((x @ params - y) ** 2)  # `params`, not `p`

    grads = jax.grad(loss)(params)
    ```

    ## Use instead
    ```python
    def loss(p):
        return jnp.mean((x @ p - y) ** 2)

    grads = jax.grad(loss)(params)
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Parameters with a leading underscore, functions that call `locals()`, and tests are not
    reported.

    ## References
    - [jax.grad](https://docs.jax.dev/en/latest/_autosummary/jax.grad.html)
    """

    code = "JAX1106"
    name = "unused-differentiated-argument"
    category = "numerics"
    severity = Severity.WARNING

    def on_transform(self, event: TransformEvent, report: Reporter) -> None:
        t = event.transformed
        if t.kind not in _KINDS or t.api.startswith(("nnx.", "eqx.", "hk.")) or event.frame.module.is_test:
            return
        found = _parameters(t.target)
        if found is None:
            return
        function, names = found
        numbers = constant(t.options["argnums"]) if "argnums" in t.options else 0
        wanted = numbers if isinstance(numbers, tuple) else (numbers,)
        used = {n.id for n in walk(function.node) if isinstance(n, ast.Name)}
        if "locals" in used or _is_stub(function.node):
            return
        for position in wanted:
            if not isinstance(position, int) or not -len(names) <= position < len(names):
                continue
            name = names[position]
            if name not in used and not name.startswith("_") and name not in ("self", "cls"):
                report(
                    event.node,
                    f"the gradient with respect to `{name}` is zero: `{t.label}` never reads it; use it or change `argnums`",
                    reason=f"the body of `{t.label}` (line {function.node.lineno}) does not contain `{name}`",
                )
                return


def _parameters(target: Value) -> tuple[Function, list[str]] | None:
    """The function behind a target, and the parameters that a caller fills; None under transformations that wrap."""
    skipped, bound = 0, set[str]()
    while not isinstance(target, Function):
        if isinstance(target, BoundMethod):
            skipped, target = skipped + 1, target.function
        elif isinstance(target, Partial):
            skipped += len(target.args)
            bound |= target.kwargs.keys()
            target = target.function
        elif isinstance(target, Transformed) and target.kind in ("jit", "vmap", "checkpoint"):
            target = target.target
        else:
            return None
    if target.wraps is not None or target.node.args.vararg is not None:
        return None
    names = [p.arg for p in positional_parameters(target.node)][skipped:]
    return target, [name for name in names if name not in bound]


def _is_stub(node: ast.AST) -> bool:
    """A body that only raises, is empty, or is still to be written (`...`)."""
    body = getattr(node, "body", [])
    if isinstance(body, list) and any(
        isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant) and s.value.value is Ellipsis
        for s in body
    ):
        return True
    return isinstance(body, list) and all(
        isinstance(s, (ast.Raise, ast.Pass))
        or (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
        for s in body
    )
