# source: jax-ml/jax#23881

import jax
import jax.numpy as jnp
import numpy as np
from scipy import special

history = []


def bessel_host(order, x):
    return special.jv(np.asarray(order), np.asarray(x)).astype(np.float32)


@jax.custom_jvp
def bessel0(x):
    out = jax.ShapeDtypeStruct(x.shape, jnp.float32)
    return jax.pure_callback(bessel_host, out, 0.0, x, vmap_method="expand_dims")


@bessel0.defjvp
def bessel0_jvp(primals, tangents):
    (x,), (dx,) = primals, tangents
    out = jax.ShapeDtypeStruct(x.shape, jnp.float32)
    j1 = jax.pure_callback(bessel_host, out, 1.0, x, vmap_method="expand_dims")
    return bessel0(x), -j1 * dx


def record(step, value):
    history.append((int(step), float(value)))


@jax.jit
def descend(x):
    def body(i, x):
        value, grad = jax.value_and_grad(lambda x: jnp.sum(bessel0(x)))(x)
        jax.lax.cond(i % 5 == 0, lambda: jax.debug.callback(record, i, value), lambda: None)
        return x - 0.1 * grad

    return jax.lax.fori_loop(0, 10, body, x)


if __name__ == "__main__":
    print(descend(jnp.array([1.0, 2.0])))
    jax.effects_barrier()
    print(history)
