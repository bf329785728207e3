# blind: ninth

import jax
import jax.numpy as jnp
import numpy as np

GRID = np.linspace(0.0, 10.0, 101)
VALUES = np.exp(-GRID)
SLOPES = np.gradient(VALUES, GRID)


def on_host(table, energy):
    shape = jax.ShapeDtypeStruct(energy.shape, jnp.float32)
    return jax.pure_callback(
        lambda e: np.interp(e, GRID, table).astype(np.float32), shape, energy, vmap_method="expand_dims"
    )


@jax.custom_jvp
def opacity(energy):
    return on_host(VALUES, energy)


@opacity.defjvp
def _opacity_jvp(primals, tangents):
    (energy,), (tangent,) = primals, tangents
    return opacity(energy), on_host(SLOPES, energy) * tangent


def depth(redshift, energy):
    return jnp.sum(opacity(energy * (1.0 + redshift)))


if __name__ == "__main__":
    print(jax.jit(jax.grad(depth))(0.1, jnp.linspace(0.5, 8.0, 16)))
