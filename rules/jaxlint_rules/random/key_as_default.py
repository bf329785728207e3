"""A PRNG key as the default of a parameter."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.tables import KEY_MAKERS
from jaxlint.finding import Severity


class KeyAsDefault(Rule):
    """A PRNG key is the default of a parameter.

    ## What it does
    Finds `def sample(n, key=jax.random.key(0))`.

    ## Why is this bad?
    The default is made once, when the function is defined: every call without a key draws the same numbers. It also starts the
    backend of JAX as soon as the module is imported.

    ## Example
    ```python
    def sample(n, key=jax.random.key(0)):
        return jax.random.normal(key, (n,))
    ```

    ## Use instead
    ```python
    def sample(n, key):
        return jax.random.normal(key, (n,))
    ```

    ## Fix safety
    There is no automatic fix: each call has to pass a key.

    ## When not to fix
    Where all calls are meant to draw the same, as in examples; a default of `None` with a key made inside says so, and does not
    start the backend at the import.

    ## References
    - [JAX: pseudorandom numbers](https://docs.jax.dev/en/latest/random-numbers.html)
    """

    code = "JAX306"
    name = "key-as-default"
    category = "random"
    severity = Severity.WARNING

    @concerns(*KEY_MAKERS)
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if event.frame.is_in_test():
            return
        inner: ast.AST = event.node
        for above in report.module.ancestors(event.node):
            if isinstance(above, ast.arguments):
                if inner in above.defaults or inner in above.kw_defaults:
                    report(
                        event.node,
                        "a key as a default is made once: every call without a key draws the same numbers",
                        reason="Python evaluates defaults where the function is defined",
                    )
                return
            if isinstance(above, (ast.stmt, ast.Lambda)):
                return
            inner = above
