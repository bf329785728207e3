# source: anthonytorlucci/rlevo#104

import jax
import jax.numpy as jnp


def rollout(params, key):
    noise = jax.random.normal(key, (10, 3))
    return -jnp.mean((noise @ params - 1.0) ** 2)


def finite_difference(params, key, h=1e-2):
    """Both sides see the same noise on purpose (common random numbers)."""
    both = jax.vmap(rollout, in_axes=(0, None))(jnp.stack([params + h, params - h]), key)
    return (both[0] - both[1]) / (2 * h)


def ascend(params, key, n):
    for i in range(n):
        params = params + 0.1 * finite_difference(params, jax.random.fold_in(key, i))
    return params


if __name__ == "__main__":
    print(ascend(jnp.zeros(3), jax.random.key(0), 3))
