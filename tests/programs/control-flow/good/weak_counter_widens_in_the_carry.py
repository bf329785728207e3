# source: jax-ml/jax#1534
# blind: eighth

import jax
import jax.numpy as jnp


@jax.jit
def running_score(rewards, decay):
    def body(carry, r):
        total, count = carry
        total = decay * total + r
        count = count + 0.5 * (r > 0)
        return (total, count), total / jnp.maximum(count, 1)

    return jax.lax.scan(body, (jnp.zeros(()), 0), rewards)


if __name__ == "__main__":
    print(running_score(jnp.ones(5), 0.9))
