# source: jax-ml/jax#15077
# blind: first

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special


def bessel(nu, z):
    out = jax.ShapeDtypeStruct(jnp.shape(z), z.dtype)
    return jax.pure_callback(  # finding
        lambda n, v: scipy.special.jv(n, v).astype(v.dtype), out, nu, z, vmap_method="expand_dims"
    )


def misfit(params, r, data):
    amp, k = params
    return jnp.mean((amp * bessel(np.float32(0), k * r) - data) ** 2)


@jax.jit
def fit_step(params, r, data):
    grads = jax.grad(misfit)(params, r, data)  # finding-also
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


if __name__ == "__main__":
    r = jnp.linspace(0.1, 3.0, 8)
    print(fit_step((jnp.array(1.0), jnp.array(2.0)), r, jnp.ones(8)))
