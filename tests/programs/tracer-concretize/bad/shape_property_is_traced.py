# source: pypomp/pypomp#23
# blind: first

import jax
import jax.numpy as jnp


@jax.jit
def resample(particles, weights):
    ess = 1.0 / jnp.sum(weights**2)
    n_keep = jnp.ceil(ess).astype(int)
    order = jnp.argsort(-weights)
    return particles[order][:n_keep]  # finding


if __name__ == "__main__":
    print(resample(jnp.arange(10.0), jnp.ones(10) / 10))
