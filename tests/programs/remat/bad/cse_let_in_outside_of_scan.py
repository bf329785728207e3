# source: jax-ml/jax#27748
# blind: fifth

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.checkpoint, prevent_cse=False)  # finding
def residual_block(w, x):
    h = jnp.sin(x @ w["a"])
    h = jnp.cos(h @ w["b"])
    return x + h


def network(weights, x):
    for w in weights:
        x = residual_block(w, x)
    return x


@jax.jit
def train_step(weights, x, y):
    def loss(ws):
        return jnp.mean((network(ws, x) - y) ** 2)

    grads = jax.grad(loss)(weights)
    return jax.tree.map(lambda w, g: w - 0.01 * g, weights, grads)


if __name__ == "__main__":
    weights = [{"a": jnp.eye(8), "b": jnp.eye(8)} for _ in range(6)]
    print(jax.tree.map(jnp.shape, train_step(weights, jnp.ones((4, 8)), jnp.zeros((4, 8)))))
