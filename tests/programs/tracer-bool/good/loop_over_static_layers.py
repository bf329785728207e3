# source: jax-ml/jax#4798

import math

import jax
import jax.numpy as jnp


def init(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        {"w": jax.random.normal(k, (m, n)) / math.sqrt(m), "b": jnp.zeros(n)}
        for k, m, n in zip(keys, sizes[:-1], sizes[1:])
    ]


def mlp(params, x, skip_every=2):
    last = len(params) - 1
    for i, layer in enumerate(params):
        h = x @ layer["w"] + layer["b"]
        if i < last:
            h = jax.nn.relu(h)
        x = h + x if i % skip_every == 1 and h.shape == x.shape else h
    return x


loss_grad = jax.jit(jax.grad(lambda p, x: jnp.mean(mlp(p, x) ** 2)))

params = init(jax.random.key(0), (3, 8, 8, 1))
assert len(loss_grad(params, jnp.ones((4, 3)))) == 3
