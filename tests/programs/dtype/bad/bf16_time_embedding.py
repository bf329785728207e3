# source: jax-ml/jax#4718
# blind: first
# missed: not found yet

import jax
import jax.numpy as jnp


def timestep_embedding(t, dim):
    t = t.astype(jnp.bfloat16)
    freqs = jnp.exp(-jnp.log(10000.0) * jnp.arange(dim // 2, dtype=jnp.bfloat16) / (dim // 2))
    angles = t[:, None] * freqs[None]  # finding
    return jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], axis=-1)


if __name__ == "__main__":
    e = timestep_embedding(jnp.array([996.0, 997.0]), 8)
    print(jnp.abs(e[0] - e[1]).max())
