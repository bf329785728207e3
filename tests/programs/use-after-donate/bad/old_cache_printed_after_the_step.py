# source: goodfire-ai/spd#971
# blind: eighth

import functools

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, donate_argnums=(1,))
def decode(params, cache, token):
    cache = cache.at[token].add(1.0)
    return jnp.argmax(params @ cache), cache


def generate(params, length):
    cache = jnp.zeros(8)
    token, filled = decode(params, cache, 0)
    for _ in range(length):
        token, filled = decode(params, filled, token)
    print("new entries:", (filled - cache).sum())  # finding
    return token


if __name__ == "__main__":
    print(generate(jnp.eye(8), 3))
