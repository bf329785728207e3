# source: facebookresearch/fmmax#83

import jax
import jax.numpy as jnp
import numpy as np


def interp_host(x, xp, fp):
    return np.interp(x, xp, fp).astype(np.float32)


def table_lookup(x, xp, fp):
    out = jax.ShapeDtypeStruct(x.shape, jnp.float32)
    return jax.pure_callback(interp_host, out, x, xp, fp)  # finding-also


def chi2(params, xp, fp, observed):
    grid = params["scale"] * jnp.linspace(0.0, 1.0, observed.shape[0])
    return jnp.sum((table_lookup(grid, xp, fp) - observed) ** 2)


def fit(params, xp, fp, observed, n=3):
    for _ in range(n):
        grads = jax.grad(chi2)(params, xp, fp, observed)  # finding
        params = jax.tree.map(lambda p, g: p - 0.01 * g, params, grads)
    return params


if __name__ == "__main__":
    xp = jnp.linspace(0, 2, 20)
    print(fit({"scale": jnp.float32(1.0)}, xp, jnp.sin(xp), jnp.ones(8)))
