# source: jax-ml/jax#1897
# blind: first

import jax
import jax.numpy as jnp


@jax.jit
def discounted(rewards, gamma):
    def step(carry, r):
        carry = r + gamma * carry
        return carry, carry

    return jax.lax.scan(step, jnp.zeros((), rewards.dtype), rewards, reverse=True)[1]


if __name__ == "__main__":
    print(discounted(jnp.ones(5), jnp.float32(0.9)))
