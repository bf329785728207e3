"""A constant PRNG key inside a jitted function."""

from __future__ import annotations

import ast

from jaxlint.finding import Severity
from jaxlint.jaxapi.functions import KEY_MAKERS
from jaxlint.rule import Example, Rule
from jaxlint.staging import Reporter
from jaxlint.staging.events import CallEvent
from jaxlint.staging.frame import Frame
from jaxlint.staging.syntax_facts import dotted
from jaxlint.staging.values import MISSING, constant
from jaxlint_rules._reasons import staged_because


class ConstantKeyInStaged(Rule):
    """A constant PRNG key is made inside a jitted function.

    ## What it does
    Finds `jax.random.key(0)` and `jax.random.PRNGKey(0)` with a constant seed in functions under `jit`.

    ## Why is this bad?
    Every call draws the same numbers: dropout always drops the same units, samples never differ.

    ## Example
    ```python
    @jax.jit
    def noisy(x):
        return x + jax.random.normal(jax.random.key(0), x.shape)
    ```

    ## Use instead
    ```python
    @jax.jit
    def noisy(x, key):
        return x + jax.random.normal(key, x.shape)
    ```

    ## Fix safety
    There is no automatic fix: it changes the function's signature.

    ## When not to fix
    When the numbers are a fixed table, or the function only initialises. Functions whose name says that they initialise
    are not reported.

    ## References
    - [JAX: pseudorandom numbers](https://docs.jax.dev/en/latest/random-numbers.html)
    """

    code = "JAX302"
    name = "constant-key-in-staged"
    category = "random"
    severity = Severity.WARNING
    examples = (
        Example(
            "a constant key under jit",
            """
import jax

@jax.jit
def noisy(x):
    return x + jax.random.normal(jax.random.key(0), x.shape)  # finding
""",
        ),
        Example(
            "a key from outside, and initialisation",
            """
import jax

@jax.jit
def noisy(x, key):
    return x + jax.random.normal(key, x.shape)

@jax.jit
def init_params(x):
    return jax.random.normal(jax.random.key(0), x.shape)

def main(x):
    return noisy(x, jax.random.key(0))
""",
        ),
    )

    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if event.name not in KEY_MAKERS or not event.frame.stage.within("jit", "pmap"):
            return
        if not event.frame.stage.certain or not event.args or constant(event.args[0]) is MISSING:
            return
        if event.frame.module.is_test or not _is_drawn_from(event.node, report):
            return
        frame: Frame | None = event.frame
        while frame is not None and frame.function is not None:
            name = frame.function.name.lower()
            if "init" in name or "create" in name:
                return
            frame = frame.caller if frame.caller is not None and frame.caller.stage.staged else None
        report(
            event.node,
            "a key with a constant seed inside a jitted function gives the same numbers at every call",
            reason=staged_because(event.frame),
        )


def _is_drawn_from(node: ast.AST, report: Reporter) -> bool:
    """Whether the key goes straight into a draw: a `jax.random` function other than split, or `rngs=` of a layer."""
    parents = report.module.parents
    parent = parents.get(node)
    if isinstance(parent, ast.Dict):
        keyword = parents.get(parent)
        call = parents.get(keyword) if isinstance(keyword, ast.keyword) and keyword.arg == "rngs" else None
        return isinstance(call, ast.Call) and not any(_switches_off(k) for k in call.keywords)
    if isinstance(parent, ast.Call) and parent.args and parent.args[0] is node:
        owner, _, name = dotted(parent.func).rpartition(".")
        return owner.rpartition(".")[2] in ("random", "jr", "jrandom", "random_lib") and name not in (
            "split",
            "fold_in",
        )
    return False


def _switches_off(keyword: ast.keyword) -> bool:
    """`train=False`, `deterministic=True`: nothing is drawn."""
    value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
    return (keyword.arg in ("train", "training", "is_training") and value is False) or (
        keyword.arg == "deterministic" and value is True
    )
