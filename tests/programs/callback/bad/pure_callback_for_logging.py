# source: jax-ml/jax#13759

import jax
import jax.numpy as jnp

HISTORY = []


def log_value(step, value):
    HISTORY.append((int(step), float(value)))
    return jnp.zeros((), jnp.float32)


def report(step, value):
    jax.pure_callback(log_value, jax.ShapeDtypeStruct((), jnp.float32), step, value)  # finding


@jax.jit
def train_step(w, step, x, y):
    loss, grad = jax.value_and_grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
    report(step, loss)
    return w - 0.1 * grad


w = jnp.zeros(3)
for step in range(5):
    w = train_step(w, step, jnp.ones((4, 3)), jnp.ones(4))
print(w, HISTORY)
