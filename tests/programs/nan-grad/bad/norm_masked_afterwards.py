# source: jax-md/jax-md#63
# blind: first

import jax
import jax.numpy as jnp


def distances(r):
    dr = r[:, None] - r[None]
    d = jnp.sqrt(jnp.sum(dr**2, axis=-1))  # finding
    return jnp.where(jnp.eye(r.shape[0], dtype=bool), 0.0, d)  # finding-also


@jax.jit
def forces(r, r0):
    energy = lambda r: jnp.sum((distances(r) - r0) ** 2)
    return -jax.grad(energy)(r)


if __name__ == "__main__":
    r = jnp.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    print(forces(r, 1.0))
