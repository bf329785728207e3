# source: fattorib/ZeRO-transformer#13
# blind: first

import jax
import jax.numpy as jnp


@jax.jit
def apply(params, x):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = params[-1]
    return x @ w + b


def init(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [(jax.random.normal(k, (m, n)), jnp.zeros(n)) for k, m, n in zip(keys, sizes, sizes[1:])]


if __name__ == "__main__":
    print(apply(init(jax.random.key(0), [3, 64, 32, 16, 1]), jnp.ones((5, 3))))
