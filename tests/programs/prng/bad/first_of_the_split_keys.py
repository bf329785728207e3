# source: jax-ml/jax#5549
# blind: first

import jax
import jax.numpy as jnp


def make_dataset(key, n, dim):
    keys = jax.random.split(key, n)
    rows = []
    for i in range(n):
        rows.append(jax.random.normal(keys[0], (dim,)) + i)  # finding
    return jnp.stack(rows)


if __name__ == "__main__":
    print(make_dataset(jax.random.key(0), 4, 3))
