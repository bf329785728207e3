"""Probabilities passed to a function that takes logits."""

from __future__ import annotations

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.finding import Severity
from jaxlint_rules._callables import argument
from jaxlint_rules.numerics._expressions import made, without_views

# The position of the logits, and functions that turn them into probabilities.
_SOFTMAX = ("softmax",)
_SIGMOID = ("sigmoid", "logistic")
_TAKES = {
    "optax.softmax_cross_entropy": (0, _SOFTMAX),
    "optax.softmax_cross_entropy_with_integer_labels": (0, _SOFTMAX),
    "optax.poly_loss_cross_entropy": (0, _SOFTMAX),
    "optax.sigmoid_binary_cross_entropy": (0, _SIGMOID),
    "optax.sigmoid_focal_loss": (0, _SIGMOID),
    "jax.random.categorical": (1, _SOFTMAX),
    "jax.nn.softmax": (0, _SOFTMAX),
    "jax.nn.log_softmax": (0, _SOFTMAX),
}
_TAKES |= {name.replace("optax.", "optax.losses."): found for name, found in _TAKES.items()}


class ProbabilitiesAsLogits(Rule):
    """A function that takes logits receives probabilities.

    ## What it does
    Finds results of `jax.nn.softmax` passed to `optax.softmax_cross_entropy`,
    `jax.random.categorical`, `jax.nn.log_softmax` or another `softmax`, and results of
    `jax.nn.sigmoid` passed to `optax.sigmoid_binary_cross_entropy`, also through a model that ends
    in one of them.

    ## Why is this bad?
    Such a function normalizes its input. Probabilities lie between 0 and 1, so the result is nearly
    uniform: of ten classes none gets more than 0.23, the loss stays above 1.46 however good the
    model is, and gradients are small. No exception is raised.

    ## Example
    ```python
    probs = jax.nn.softmax(model(x))
    loss = optax.softmax_cross_entropy_with_integer_labels(probs, labels).mean()
    ```

    ## Use instead
    ```python
    logits = model(x)
    loss = optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
    ```
    To sample from probabilities, use `jax.random.categorical(key, jnp.log(probs))` or
    `jax.random.choice(key, n, p=probs)`.

    ## Fix safety
    There is no automatic fix: other code may use the probabilities of the model.

    ## When not to fix
    Keep it if you want the second softmax, for example as a relaxation.

    ## References
    - [optax: losses](https://optax.readthedocs.io/en/latest/api/losses.html)
    """

    code = "JAX1113"
    name = "probabilities-as-logits"
    category = "numerics"
    severity = Severity.WARNING

    @concerns(*_TAKES)
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        position, makers = _TAKES[event.name]
        operation = made(without_views(argument(event, position, "logits")), *makers)
        if operation is None or event.frame.is_in_test():
            return
        taker = event.name.rpartition(".")[2]
        line = getattr(operation.node, "lineno", "?")
        report(
            event.node,
            f"`{taker}` takes logits, but gets the result of `{operation.name}`; pass the logits",
            reason=f"`{operation.name}` at line {line} turns the logits into probabilities",
        )
