# blind: tenth

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def train_epoch(w, batches):
    def body(w, b):
        return w - 0.1 * jax.grad(lambda w: jnp.mean((b @ w - 1.0) ** 2))(w), None

    return jax.lax.scan(body, w, batches)[0]


@jax.jit
def accuracy(w, x):
    return jnp.mean((x @ w) > 0.5)


def run(w, batches, held_out, epochs):
    curve = []
    for epoch in range(epochs):
        w = train_epoch(w, batches)
        curve.append(float(accuracy(w, held_out)))
    return np.array(curve)


print(run(jnp.zeros(3), jnp.ones((10, 4, 3)), jnp.ones((6, 3)), 3))
