# source: jax-ml/jax#12186
# blind: eighteenth

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback
from scipy import special

LOG = []


def host_bessel(x):
    x = np.asarray(x)
    return special.jv(0, x).astype(x.dtype)


@jax.custom_jvp
def bessel_j0(x):
    out = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.pure_callback(host_bessel, out, x, vmap_method="expand_dims")


@bessel_j0.defjvp
def _bessel_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    eps = 1e-3
    return bessel_j0(x), t * (bessel_j0(x + eps) - bessel_j0(x - eps)) / (2 * eps)


def record(step, value):
    LOG.append((int(step), float(value)))


@jax.jit
def descend(x0):
    def body(x, i):
        value, g = jax.value_and_grad(lambda v: bessel_j0(v))(x)
        io_callback(record, None, i, value, ordered=True)
        return x - 0.5 * g, value

    return jax.lax.scan(body, x0, jnp.arange(5))


if __name__ == "__main__":
    print(jax.vmap(bessel_j0)(jnp.linspace(0.0, 5.0, 4)))
    print(descend(jnp.asarray(2.0))[0])
    jax.effects_barrier()
    print(len(LOG))
