# source: google/maxtext#418
# blind: first

import jax
import jax.numpy as jnp


def decode_step(params, cache, token, position):
    x = params["embed"][token]
    cache = jax.lax.dynamic_update_slice(cache, x[None], (position, 0))
    return cache, jnp.argmax(params["embed"] @ cache.mean(0))


step = jax.jit(decode_step, donate_argnames="cache")


@jax.jit
def evaluate(params, tokens):
    return jnp.mean(params["embed"][tokens])


def generate(params, cache, token, n):
    out = []
    for pos in range(n):
        cache, token = step(params, cache, token, pos)
        out.append(token)
    return out, [evaluate(params, t) for t in jnp.arange(4).reshape(2, 2)]


if __name__ == "__main__":
    print(generate({"embed": jnp.ones((16, 8))}, jnp.zeros((32, 8)), jnp.int32(0), 4))
