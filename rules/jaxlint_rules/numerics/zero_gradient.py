"""A loss that comes out of an operation without a derivative."""

from __future__ import annotations

from jaxlint.finding import Severity
from jaxlint.rule import Example, Rule
from jaxlint.staging import Reporter
from jaxlint.staging.events import ZeroGradientEvent


class ZeroGradient(Rule):
    """The gradient is zero: the loss reaches its argument through a step function alone.

    ## What it does
    Finds functions under `jax.grad` and `value_and_grad` whose whole result comes out of `argmax`, `round`, `sign`, `floor`,
    a comparison, a cast to integers or `stop_gradient`.

    ## Why is this bad?
    These operations have a derivative of zero (or none), so the gradient is zero everywhere and nothing is learnt. JAX raises nothing.

    ## Example
    ```python
    def loss(params, x, y):
        predicted = jnp.argmax(model(params, x), axis=-1)
        return jnp.mean(predicted != y)
    ```

    ## Use instead
    ```python
    def loss(params, x, y):
        return optax.softmax_cross_entropy_with_integer_labels(model(params, x), y).mean()
    ```
    Where a step is wanted in the forward pass, a straight-through estimator: `x + jax.lax.stop_gradient(jnp.round(x) - x)`.

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    When the zero gradient is what is tested.

    ## References
    - [JAX: stop_gradient and straight-through estimators](https://docs.jax.dev/en/latest/advanced-autodiff.html)
    """

    code = "JAX1108"
    name = "zero-gradient"
    category = "numerics"
    severity = Severity.WARNING
    examples = (
        Example(
            "accuracy as a loss, a rounded prediction, a cast",
            """
import jax
import jax.numpy as jnp

def error_rate(w, x, y):
    predicted = jnp.argmax(x @ w, axis=-1)  # finding
    return jnp.mean((predicted != y).astype(jnp.float32))

def rounded(w, x, y):
    return jnp.mean((jnp.round(x @ w) - y) ** 2)  # finding

def hinge(w, x):
    return jnp.sum(jnp.sign(jnp.dot(x, w)))  # finding

@jax.jit
def step(w, x, y):
    g = jax.grad(error_rate)(w, x, y)
    value, h = jax.value_and_grad(rounded)(w, x, y)
    return w - g - h - jax.grad(hinge)(w, x)
""",
        ),
        Example(
            "straight through, beside a smooth term, not differentiated",
            """
import jax
import jax.numpy as jnp

def straight_through(w, x, y):
    z = x @ w
    q = z + jax.lax.stop_gradient(jnp.round(z) - z)
    return jnp.mean((q - y) ** 2)

def masked(w, x, y):
    z = x @ w
    return jnp.mean(jnp.where(z > 0, z, 0.0) + jnp.sign(z) * z)

def with_metric(w, x, y):
    logits = x @ w
    accuracy = jnp.mean(jnp.argmax(logits, -1) == y)
    return -jnp.mean(jax.nn.log_softmax(logits)), accuracy

def error_rate(w, x, y):
    return jnp.mean(jnp.argmax(x @ w, axis=-1) != y)

@jax.jit
def step(w, x, y):
    g = jax.grad(straight_through)(w, x, y) + jax.grad(masked)(w, x, y)
    h, accuracy = jax.grad(with_metric, has_aux=True)(w, x, y)
    return w - g - h, accuracy, error_rate(w, x, y)
""",
        ),
    )

    def on_zero_gradient(self, event: ZeroGradientEvent, report: Reporter) -> None:
        if report.module.is_test:
            return
        what = f"`{event.transformed.label}`" if event.transformed is not None else "the function"
        report(
            event.node,
            f"the gradient of {what} is zero: all of its result comes out of `{event.operation.name}`",
            reason=f"`{event.operation.name}` has no derivative, or one that is zero everywhere",
        )
