# source: jax-ml/jax#10187
# blind: second

import jax
import jax.numpy as jnp


def warp_cost(a, b):
    return jnp.sqrt(jnp.sum((a - b) ** 2) + 1e-9)


@jax.jit
def alignment(first, second):
    costs = jnp.stack([jnp.stack([warp_cost(a, b) for b in second]) for a in first])  # finding
    return jnp.min(costs, axis=1).sum()


if __name__ == "__main__":
    k1, k2 = jax.random.split(jax.random.key(0))
    print(alignment(jax.random.normal(k1, (12, 3)), jax.random.normal(k2, (12, 3))))
