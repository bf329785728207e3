# source: jax-ml/jax#8356
# blind: eighteenth

import functools

import jax
import jax.numpy as jnp


@functools.partial(jax.custom_vjp, nondiff_argnums=(2,))
def straight_through(x, scale, levels):
    q = jnp.clip(jnp.round(x / scale), -levels, levels - 1)
    return q * scale


def _fwd(x, scale, levels):
    return straight_through(x, scale, levels), (x, scale)


def _bwd(levels, res, g):
    x, scale = res
    inside = jnp.abs(x / scale) <= levels
    g_scale = jnp.sum(jnp.where(inside, 0.0, g * jnp.sign(x) * levels))
    return jnp.where(inside, g, 0.0), g_scale


straight_through.defvjp(_fwd, _bwd)


@jax.custom_vjp
def gather_rows(table, idx):
    return table[idx]


def _gather_fwd(table, idx):
    return table[idx], (table.shape, idx)


def _gather_bwd(res, g):
    shape, idx = res
    return jnp.zeros(shape, g.dtype).at[idx].add(g), None


gather_rows.defvjp(_gather_fwd, _gather_bwd)


def loss_fn(params, idx):
    rows = gather_rows(params["table"], idx)
    return jnp.mean(straight_through(rows, params["scale"], 8) ** 2)


if __name__ == "__main__":
    params = {"table": jax.random.normal(jax.random.key(0), (10, 4)), "scale": jnp.asarray(0.1)}
    grads = jax.grad(loss_fn)(params, jnp.array([1, 3, 3]))
    print(grads["scale"], jnp.abs(grads["table"]).sum(axis=1))
