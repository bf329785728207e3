"""Calls that run at trace time only."""

from __future__ import annotations

from jaxlint.finding import Severity
from jaxlint.rule import Example, Rule
from jaxlint.staging import Reporter
from jaxlint.staging.events import CallEvent
from jaxlint.staging.values import External
from jaxlint_rules._reasons import staged_because

_CLOCKS = frozenset(
    f"time.{n}" for n in ["time", "perf_counter", "monotonic", "process_time", "time_ns", "perf_counter_ns"]
)
_RANDOM = ("random.", "numpy.random.", "secrets.")
_NOT_DRAWS = frozenset(
    [
        "seed",
        "default_rng",
        "RandomState",
        "Generator",
        "SeedSequence",
        "get_state",
        "set_state",
        "Random",
        "SystemRandom",
        "PCG64",
        "Philox",
    ]
)


class ImpureCall(Rule):
    """A clock or Python's random numbers inside staged code.

    ## What it does
    Finds `time.time()` and other clocks, and draws from `random` and `numpy.random`, in functions that JAX stages.

    ## Why is this bad?
    They run once, while JAX traces. Every later call of the compiled function sees the same number.

    ## Example
    ```python
    @jax.jit
    def noisy(x):
        return x + np.random.normal()
    ```

    ## Use instead
    ```python
    @jax.jit
    def noisy(x, key):
        return x + jax.random.normal(key)
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    When a constant drawn at trace time is meant; a seeded generator (`np.random.default_rng(0)`) is not reported.

    ## References
    - [JAX: pure functions](https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html#pure-functions)
    """

    code = "JAX202"
    name = "impure-call"
    category = "purity"
    severity = Severity.WARNING
    examples = (
        Example(
            "a clock and NumPy's global generator",
            """
import time
import jax
import numpy as np

@jax.jit
def noisy(x):
    seed = time.time()  # finding
    return x + np.random.normal() * seed  # finding
""",
        ),
        Example(
            "on the host, seeded, or in a callback",
            """
import time
import jax
import numpy as np

@jax.jit
def noisy(x):
    table = np.random.default_rng(0).normal(size=3)
    jax.debug.callback(lambda v: print(time.time(), v), x)
    return x + table

def main(x):
    start = time.time()
    y = noisy(x + np.random.normal())
    return y, time.time() - start
""",
        ),
    )

    def on_call(self, event: CallEvent, report: Reporter) -> None:
        stage = event.frame.stage
        if not stage.staged or not stage.certain or not isinstance(event.callee, External):
            return
        name = event.name
        draws = name.startswith(_RANDOM) and name.rpartition(".")[2] not in _NOT_DRAWS
        if name not in _CLOCKS and not draws:
            return
        short = name.replace("numpy.", "np.")
        report(
            event.node,
            f"`{short}` runs once, while JAX traces; compiled calls repeat the same value",
            reason=staged_because(event.frame),
        )
