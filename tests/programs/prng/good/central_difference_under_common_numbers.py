# source: elixir-nx/axon#423
# blind: eighth

import jax
import jax.numpy as jnp


@jax.jit
def price(spot, key):
    paths = spot * jnp.exp(0.2 * jax.random.normal(key, (256,)) - 0.02)
    return jnp.mean(jnp.maximum(paths - 100.0, 0.0))


def delta(spot, key, bump=1.0):
    up = price(spot + bump, key)
    down = price(spot - bump, key)
    return (up - down) / (2 * bump)


if __name__ == "__main__":
    print(delta(100.0, jax.random.key(0)))
