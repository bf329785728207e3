"""`jax.numpy` on Python numbers, in host loops."""

from __future__ import annotations

from jaxlint.api import ConvertEvent, Reporter, Rule
from jaxlint.api.tables import ELEMENTWISE
from jaxlint.api.values import Array, Operation, Static, Value
from jaxlint.finding import Severity
from jaxlint_rules._loops import bodies
from jaxlint_rules._main_loops import does_main_work

_HOW = frozenset({"float", "int", "item", "round", "math.floor", "math.ceil"})
_DEPTH = 8


class JnpOfNumbers(Rule):
    """`jax.numpy` computes a Python number from Python numbers in a loop.

    ## What it does
    Finds `float(jnp.cos(step / total))` and similar conversions, where all operands are Python
    numbers, in a host loop that trains, samples or evaluates, or in a function that it calls.

    ## Why is this bad?
    Each operation is a dispatch, and the conversion is a host sync: 26 µs for a cosine schedule on
    a CPU, which `math` computes in 0.1 µs. On a GPU the host sync also stops asynchronous dispatch.

    ## Example
    ```python
    def schedule(step, total):
        return float(0.5 * (1 + jnp.cos(jnp.pi * step / total)))
    ```

    ## Use instead
    ```python
    def schedule(step, total):
        return 0.5 * (1 + math.cos(math.pi * step / total))
    ```

    ## Fix safety
    There is no automatic fix: `math` computes in double precision and does not accept arrays.

    ## When not to fix
    Keep it if the function is also called with arrays. Code that runs once, and loops that only set up,
    are not reported.

    ## References
    - [JAX: asynchronous dispatch](https://docs.jax.dev/en/latest/async_dispatch.html)
    """

    code = "JAX507"
    name = "jnp-of-numbers"
    category = "transfer"
    severity = Severity.WARNING
    preview = True  # until its findings in real code have been read: docs/writing-rules.md

    def on_convert(self, event: ConvertEvent, report: Reporter) -> None:
        frame, value = event.frame, event.value
        if event.how not in _HOW or frame.stage.staged or frame.is_in_test() or not isinstance(value, Array):
            return
        made = value.made
        if made is None or not _computes_numbers(made):
            return
        if not any(does_main_work(loop, frame) for loop, _ in bodies(frame)):
            return  # it runs a few times, and costs microseconds
        report(
            event.node,
            f"`{event.how}` of `jnp` functions of Python numbers forces a host sync; use `math` or NumPy",
            reason="nothing here is an array: each operation is dispatched to the device, and the result is fetched",
        )


def _computes_numbers(made: Operation, depth: int = _DEPTH) -> bool:
    """Whether an elementwise operation only has Python numbers as operands."""
    if depth == 0 or made.name not in ELEMENTWISE or made.kwargs or not made.args:
        return False
    return all(_is_number(value, depth - 1) for value in made.args)


def _is_number(value: Value, depth: int) -> bool:
    if isinstance(value, Array):
        return not value.staged and value.made is not None and _computes_numbers(value.made, depth)
    return isinstance(value, Static)
