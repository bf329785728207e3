"""Inputs and targets that are shuffled with different PRNG keys."""

from __future__ import annotations

import ast
import re

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import dotted
from jaxlint.finding import Severity

_INPUTS = re.compile(
    r"(^|_)(xs?|inputs?|features?|images?|imgs?|obs|observations?|data|tokens|prompts?)(_|$)"
)
_TARGETS = re.compile(r"(^|_)(ys?|labels?|targets?|actions?|acts|rewards?|masks?|outputs?)(_|$)")


class ShuffledApart(Rule):
    """Inputs and targets are shuffled in different orders.

    ## What it does
    Finds two calls of `jax.random.permutation` in one function with different keys, one on inputs
    (`x`, `images`, `obs` ...) and one on their targets (`y`, `labels` ...). The rule goes by the
    names.

    ## Why is this bad?
    Different keys give different orders, so inputs no longer match their targets: the model trains
    on random labels. No exception is raised.

    ## Example
    ```python
    k1, k2 = jax.random.split(key)
    x = jax.random.permutation(k1, x)
    y = jax.random.permutation(k2, y)
    ```

    ## Use instead
    ```python
    order = jax.random.permutation(key, x.shape[0])
    x, y = x[order], y[order]
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Keep it if you want to break the pairs, as in a permutation test.

    ## References
    - [jax.random.permutation](https://docs.jax.dev/en/latest/_autosummary/jax.random.permutation.html)
    """

    code = "JAX307"
    name = "shuffled-apart"
    category = "random"
    severity = Severity.WARNING

    def __init__(self) -> None:
        self.shuffled: dict[ast.AST, list[ast.Call]] = {}  # by function

    @concerns("jax.random.permutation")
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        node = event.node
        if not isinstance(node, ast.Call) or len(node.args) != 2 or node.keywords or event.frame.is_in_test():
            return
        earlier = self.shuffled.setdefault(event.frame.owner, [])
        if node in earlier:
            return
        for other in earlier:
            if dotted(other.args[0]) == dotted(node.args[0]) or not dotted(node.args[0]):
                continue
            written = [dotted(call.args[1]).rpartition(".")[2] for call in (other, node)]
            names = [name.lower() for name in written]
            if any(
                _INPUTS.search(one) and _TARGETS.search(two) and _fit(one, two)
                for one, two in (names, names[::-1])
            ):
                report(
                    node,
                    f"`{written[0]}` and `{written[1]}` are shuffled in different orders; permute indices once and use them for both",
                    reason=f"line {other.lineno} shuffles under `{ast.unparse(other.args[0])}`, and this under `{ast.unparse(node.args[0])}`",
                )
                break
        earlier.append(node)


def _fit(one: str, two: str) -> bool:
    """Whether two names may belong to the same set: `x_train` and `y_train`, or names without a set."""
    sets = [
        {part for part in name.split("_") if part in ("train", "test", "val", "valid")} for name in (one, two)
    ]
    return sets[0] == sets[1]
