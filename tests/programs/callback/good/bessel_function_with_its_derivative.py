# blind: thirteenth

import jax
import jax.numpy as jnp
import numpy as np
from scipy import special


def host(function):
    def call(x):
        shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return jax.pure_callback(lambda v: function(np.asarray(v)).astype(v.dtype), shape, x, vmap_method="expand_dims")

    return call


@jax.custom_jvp
def bessel0(x):
    return host(special.j0)(x)


@bessel0.defjvp
def _(primals, tangents):
    (x,), (dx,) = primals, tangents
    return bessel0(x), -host(special.j1)(x) * dx


def loss(params, radius, measured):
    return jnp.mean((params["scale"] * bessel0(params["k"] * radius) ** 2 - measured) ** 2)


def fit(radius, measured, steps=100):
    params = {"scale": jnp.asarray(1.0), "k": jnp.asarray(2.0)}
    update = jax.jit(lambda p: jax.tree.map(lambda a, g: a - 1e-2 * g, p, jax.grad(loss)(p, radius, measured)))
    for _ in range(steps):
        params = update(params)
    return params


if __name__ == "__main__":
    r = jnp.linspace(0.1, 5.0, 64)
    print(fit(r, jnp.asarray(special.j0(1.7 * np.asarray(r)) ** 2, jnp.float32), 3))
