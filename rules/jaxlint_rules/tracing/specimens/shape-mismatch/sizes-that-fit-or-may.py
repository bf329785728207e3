# sizes that fit, or may

import jax
import jax.numpy as jnp
import pytest

def attention(x, w, heads):
    b, t, d = x.shape
    q = (x @ w).reshape(b, t, heads, d // heads)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, q)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), q).reshape(b, t, d) + x

attention(jnp.ones((2, 10, 64)), jnp.ones((64, 64)), 4)
attention(jnp.ones((3, 5, 96)), jnp.ones((96, 96)), 8)

def pairwise(x, y):
    return jnp.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=-1)

pairwise(jnp.ones((5, 3)), jnp.ones((7, 3)))

def normalised(x):
    return x / x.sum(axis=-1, keepdims=True) + jnp.zeros(1)

normalised(jnp.ones((4, 3)))

layers = [(jnp.ones((784, 128)), jnp.ones(128)), (jnp.ones((128, 10)), jnp.ones(10))]

def mlp(x):
    for w, b in layers:
        x = jax.nn.relu(x @ w + b)
    return x

mlp(jnp.ones((32, 784)))

rows = jnp.zeros((0, 3))
for i in range(4):
    rows = jnp.concatenate([rows, jnp.full((1, 3), i)])
table = rows + jnp.ones((4, 3))
