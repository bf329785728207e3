# source: jax-ml/jax#18405
# blind: first

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.checkpoint, static_argnums=(2,))  # finding-also
def block(w, x, train=False):
    h = jnp.tanh(x @ w)
    if train:
        h = h * 0.9
    return x + h


def loss(ws, x):
    for w in ws:
        x = block(w, x, train=True)  # finding
    return jnp.mean(x**2)


if __name__ == "__main__":
    ws = [jnp.ones((8, 8)) / 8] * 3
    print(jax.grad(loss)(ws, jnp.ones((2, 8)))[0].sum())
