# source: google/flax#1733
# blind: first

import functools

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, donate_argnums=0)
def update(params, x):
    loss, g = jax.value_and_grad(lambda p: jnp.mean((x @ p["w"]) ** 2))(params)
    return jax.tree.map(lambda p, d: p - 0.1 * d, params, g), loss


def search(params, batches):
    best = jax.tree.map(jnp.copy, params)
    n_params = sum(p.size for p in jax.tree.leaves(params))
    for x in batches:
        dtype = params["w"].dtype
        params, loss = update(params, x.astype(dtype))
        best = jax.tree.map(lambda b, p: jnp.where(loss < 1.0, p, b), best, params)
    return best, n_params


def two(params, x):
    after, loss = update(params, x)
    params = after
    return params["w"].sum() + loss


if __name__ == "__main__":
    print(search({"w": jnp.ones(3)}, [jnp.ones((2, 3))] * 2), two({"w": jnp.ones(3)}, jnp.ones((2, 3))))
