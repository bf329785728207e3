"""A constant PRNG key inside a jitted function."""

from __future__ import annotations

from jaxlint.finding import Severity
from jaxlint.jaxapi.functions import KEY_MAKERS
from jaxlint.rule import Example, Rule
from jaxlint.staging import Reporter
from jaxlint.staging.events import CallEvent
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
        if (
            event.name not in KEY_MAKERS
            or not event.frame.stage.within("jit", "pmap")
            or not event.frame.stage.certain
        ):
            return
        if not event.args or constant(event.args[0]) is MISSING or event.frame.module.is_test:
            return
        frame = event.frame
        while frame is not None and frame.function is not None:
            if "init" in frame.function.name.lower() or "create" in frame.function.name.lower():
                return
            if frame.caller is None or not frame.caller.stage.staged:
                break
            frame = frame.caller
        report(
            event.node,
            "a key with a constant seed inside a jitted function gives the same numbers at every call",
            reason=staged_because(event.frame),
        )
