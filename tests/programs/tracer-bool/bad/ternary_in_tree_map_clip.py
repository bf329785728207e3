# source: jax-ml/jax#16430

from typing import NamedTuple

import jax
import jax.numpy as jnp


class ClipConfig(NamedTuple):
    max_norm: float = 1.0
    eps: float = 1e-6


def clip_leafwise(grads, config):
    def clip(g):
        norm = jnp.sqrt(jnp.sum(g * g))
        return g if norm < config.max_norm else g * (config.max_norm / (norm + config.eps))  # finding

    return jax.tree.map(clip, grads)


def loss(params, x):
    for w, b in params:
        x = jax.nn.relu(x @ w + b)
    return jnp.mean(x**2)


def make_step(config, lr):
    def step(params, x):
        grads = clip_leafwise(jax.grad(loss)(params, x), config)
        return jax.tree.map(lambda p, g: p - lr * g, params, grads)

    return jax.jit(step)


params = [(jnp.ones((3, 5)), jnp.zeros(5)), (jnp.ones((5, 2)), jnp.zeros(2))]
step = make_step(ClipConfig(), 0.01)
for _ in range(4):
    params = step(params, jnp.ones((6, 3)))
print(jax.tree.map(jnp.shape, params))
