# parts by their number, rows of an array, `jnp.split`

import jax
import jax.numpy as jnp

def loss_fn(params, x):
    return jnp.mean(jnp.tanh(x @ params["w"]) ** 2)

@jax.jit
def by_number(params, batch):
    size = batch.shape[0] // 8
    grads = jax.tree.map(jnp.zeros_like, params)
    total = 0.0
    for i in range(8):  # finding
        part = batch[i * size : (i + 1) * size]
        loss, new = jax.value_and_grad(loss_fn)(params, part)
        grads = jax.tree.map(lambda a, b: a + b, grads, new)
        total += loss
    return total / 8, jax.tree.map(lambda g: g / 8, grads)

@jax.jit
def by_row(params, batch):
    parts = batch.reshape(8, -1, 16)
    grads = jnp.zeros_like(params["w"])
    for part in parts:  # finding
        grads = grads + jax.grad(loss_fn)(params, part)["w"]
    return grads

@jax.jit
def split(params, batch):
    grads = jax.tree.map(jnp.zeros_like, params)
    for part in jnp.split(batch, 16):  # finding
        grads = jax.tree.map(jnp.add, grads, jax.grad(loss_fn)(params, part))
    return grads
