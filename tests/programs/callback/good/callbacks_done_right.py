# source: jax-ml/jax#23881

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback
from scipy import special

RECORDS = []


@jax.custom_jvp
def bessel_j1(x):
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.pure_callback(lambda v: special.j1(v).astype(v.dtype), shape, x, vmap_method="broadcast_all")


@bessel_j1.defjvp
def _bessel_j1_jvp(primals, tangents):
    (x,), (dx,) = primals, tangents
    eps = 1e-3
    return bessel_j1(x), (bessel_j1(x + eps) - bessel_j1(x - eps)) / (2 * eps) * dx


def store(step, value):
    RECORDS.append((int(step), float(value)))


@jax.jit  # finding-other
def train_step(step, scale, radius):
    value, grad = jax.value_and_grad(lambda s: jnp.mean(jax.vmap(bessel_j1)(radius / s) ** 2))(scale)
    io_callback(store, None, step, value, ordered=True)
    jax.debug.print("step {s}: {v:.3f}", s=step, v=value)
    return scale - 0.1 * grad


scale = jnp.array(1.0)
for step in range(3):
    scale = train_step(step, scale, jnp.linspace(0.1, 2.0, 8))
jax.effects_barrier()
print(scale, len(RECORDS), np.shape(RECORDS))
