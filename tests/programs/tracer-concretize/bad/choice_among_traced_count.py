# source: jax-ml/jax#6085
# blind: first
# missed: not found yet

import jax
import jax.numpy as jnp


def minibatch(key, data, filled, size):
    index = jax.random.permutation(key, filled)[:size]  # finding
    return jax.tree.map(lambda leaf: leaf[index], data)


def update(params, buffer, key):
    batch = minibatch(key, buffer["data"], buffer["filled"], 4)
    return params - 0.1 * jax.grad(lambda p: jnp.mean((batch["x"] @ p) ** 2))(params)


step = jax.jit(update)

if __name__ == "__main__":
    buf = {"data": {"x": jnp.ones((16, 3))}, "filled": jnp.array(8)}
    print(step(jnp.ones(3), buf, jax.random.key(0)))
