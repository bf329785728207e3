# source: jax-ml/jax#18074
# blind: sixth

"""A database of material constants asked on the host."""
import jax
import jax.numpy as jnp
import numpy as np

TABLE = {0: (210.0, 7.8), 1: (70.0, 2.7), 2: (45.0, 1.8)}


def look_up(ids):
    return np.array([TABLE[int(i)] for i in ids], np.float32)


@jax.jit
def stiffness(ids, area, length):
    out = jax.ShapeDtypeStruct(ids.shape, jnp.float32)
    modulus = jax.pure_callback(look_up, out, ids)  # finding
    return modulus * area / length


if __name__ == "__main__":
    print(stiffness(jnp.array([0, 2, 1]), jnp.ones(3), jnp.full(3, 2.0)))
