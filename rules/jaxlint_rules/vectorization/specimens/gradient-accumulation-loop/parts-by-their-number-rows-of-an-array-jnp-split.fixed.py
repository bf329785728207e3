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

    def body_fun(carry, i):
        grads, total = carry
        part = batch[: 8 * size].reshape(8, size, *batch.shape[1:])[i]
        loss, new = jax.value_and_grad(loss_fn)(params, part)
        grads = jax.tree.map(lambda a, b: a + b, grads, new)
        total += loss
        return (grads, total), None

    (grads, total), _ = jax.lax.scan(body_fun, (grads, total), jnp.arange(8))  # finding
    return total / 8, jax.tree.map(lambda g: g / 8, grads)

@jax.jit
def by_row(params, batch):
    parts = batch.reshape(8, -1, 16)
    grads = jnp.zeros_like(params["w"])

    def body_fun(grads, part):
        grads = grads + jax.grad(loss_fn)(params, part)["w"]
        return grads, None

    grads, _ = jax.lax.scan(body_fun, grads, parts)  # finding
    return grads

@jax.jit
def split(params, batch):
    grads = jax.tree.map(jnp.zeros_like, params)

    def body_fun(grads, part):
        grads = jax.tree.map(jnp.add, grads, jax.grad(loss_fn)(params, part))
        return grads, None

    grads, _ = jax.lax.scan(body_fun, grads, jnp.stack(jnp.split(batch, 16)))  # finding
    return grads
