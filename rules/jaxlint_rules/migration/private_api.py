"""private-api: names under `jax._src`, which change without notice."""

from __future__ import annotations

import ast

from jaxlint.api import NameEvent, Reporter, Rule, concerns
from jaxlint.api.releases import known_names
from jaxlint.finding import Severity
from jaxlint_rules.migration._changed_names import SpelledNames

_HOMES = (
    "jax",
    "jax.extend.core",
    "jax.core",
    "jax.lax",
    "jax.numpy",
    "jax.tree_util",
    "jax.dtypes",
    "jax.sharding",
)


class PrivateApi(Rule):
    """A name under `jax._src` is used.

    ## What it does
    Finds imports from `jax._src`, and uses of it that no import reports already. The message names
    a public module that has a name of the same spelling, if there is one.

    ## Why is this bad?
    `jax._src` is private: any release may move or change its names without a deprecation.

    ## Example
    ```python
    from jax._src.core import eval_jaxpr
    ```

    ## Use instead
    ```python
    from jax.core import eval_jaxpr
    ```

    ## Fix safety
    There is no automatic fix: a public name of the same spelling may be another object.

    ## When not to fix
    Keep it if there is no public equivalent. Then pin JAX and keep such uses in one module.

    ## References
    - [JAX: API compatibility](https://docs.jax.dev/en/latest/api_compatibility.html)
    """

    code = "JAX905"
    name = "private-api"
    category = "migration"
    severity = Severity.INFO

    def __init__(self) -> None:
        self._spelled = SpelledNames()
        self._reported: set[ast.AST] = set()

    @concerns(where=lambda name: name.startswith("jax._src"))
    def on_name(self, event: NameEvent, report: Reporter) -> None:
        qualified, node = event.qualified, event.node
        if event.is_optional() or not qualified.startswith("jax._src") or not self._spelled.is_written(event):
            return
        if isinstance(node, ast.Attribute):
            # Inside out: the prefix was seen and suppressed already.
            if not _writes_src(node) or isinstance(event.frame.module.parents.get(node), ast.Attribute):
                return
        elif not isinstance(node, ast.alias):
            return
        if node in self._reported:
            return
        self._reported.add(node)
        leaf = qualified.rpartition(".")[2]
        home = (
            next((home for home in _HOMES if leaf in known_names(home).there), None)
            if "." in qualified
            else None
        )
        report(
            node,
            f"`{qualified}` is private to JAX" + (f"; use `{home}.{leaf}`" if home else ""),
            reason="names under `jax._src` change between releases without a deprecation",
        )


def _writes_src(node: ast.expr) -> bool:
    """Whether the chain itself contains `_src`, rather than a name bound by an import."""
    while isinstance(node, ast.Attribute):
        if node.attr == "_src":
            return True
        node = node.value
    return False
