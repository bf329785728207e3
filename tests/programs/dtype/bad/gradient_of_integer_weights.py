# blind: tenth

import jax
import jax.numpy as jnp


def init(sizes):
    return [jnp.arange(a * b).reshape(a, b) for a, b in zip(sizes[:-1], sizes[1:])]


def forward(weights, x):
    for w in weights:
        x = jnp.tanh(x @ w)
    return x.sum()


weights = init([3, 4, 2])
print(jax.grad(forward)(weights, jnp.ones((5, 3))))  # finding
