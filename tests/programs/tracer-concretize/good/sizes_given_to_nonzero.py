# source: google-deepmind/jraph#29
# blind: first

import jax
import jax.numpy as jnp


@jax.jit
def active(mask, values, counts):
    index = jnp.nonzero(mask, size=4, fill_value=0)[0]
    spread = jnp.repeat(values, counts, total_repeat_length=mask.shape[0])
    uniques, inverse = jnp.unique(counts, size=3, return_inverse=True)
    picked = jnp.where(mask, spread, 0.0)
    return picked[index], uniques[inverse]


@jax.jit
def zero_negative(x):
    return jnp.where(x < 0, 0.0, x)


if __name__ == "__main__":
    print(active(jnp.ones(6, bool), jnp.ones(3), jnp.array([1, 2, 3])), zero_negative(jnp.arange(-2.0, 2.0)))
