# source: jax-ml/jax#20082
# blind: eighth

import jax
import jax.numpy as jnp


@jax.jit
def random_walk(x0, key):
    def step(carry, _):
        x, key = carry
        key, sub = jax.random.split(key)
        x = x + 0.1 * jax.random.normal(sub, x.shape)
        return (x, key), x

    (last, _), path = jax.lax.scan(step, (x0, key), None, length=50)
    return last, path


if __name__ == "__main__":
    print(random_walk(jnp.zeros(3), jax.random.key(7))[1].shape)
