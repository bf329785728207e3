# source: jax-ml/jax#6853
# blind: first

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnums=(1,))
def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [jax.random.normal(k, (m, n)) for k, m, n in zip(keys, sizes[:-1], sizes[1:])]


def main():
    hidden = [64] * 3
    params = init_mlp(jax.random.key(0), [8] + hidden + [1])  # finding
    print([p.shape for p in params])


main()
