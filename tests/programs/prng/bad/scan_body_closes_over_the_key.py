# source: elixir-nx/axon#423
# blind: eighth

import jax
import jax.numpy as jnp


@jax.jit
def random_walk(x0, key):
    def step(x, _):
        noise = jax.random.normal(key, x.shape)  # finding
        x = x + 0.1 * noise
        return x, x

    return jax.lax.scan(step, x0, None, length=50)


if __name__ == "__main__":
    last, path = random_walk(jnp.zeros(3), jax.random.key(7))
    print(path.shape)
