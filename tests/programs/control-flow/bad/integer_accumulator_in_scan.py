# source: jax-ml/jax#9046
# blind: first

import jax
import jax.numpy as jnp


def discounted(rewards, gamma):
    def backward(acc, r):
        acc = r + gamma * acc
        return acc, acc

    init = jnp.zeros((), dtype=jnp.int32)
    _, returns = jax.lax.scan(backward, init, rewards, reverse=True)  # finding
    return returns


if __name__ == "__main__":
    print(discounted(jnp.array([0.0, 0.0, 1.0]), 0.9))
