# source: elixir-nx/nx#1755
# blind: eighth

import jax
import jax.numpy as jnp


@jax.jit  # finding
def decode(params, cache, token, pos):
    x = params["emb"][token]
    cache = jax.lax.dynamic_update_slice(cache, x[None], (pos, 0))
    scores = jnp.where(jnp.arange(cache.shape[0]) <= pos, cache @ x, -1e9)
    h = jax.nn.softmax(scores) @ cache
    return jnp.argmax(h @ params["emb"].T), cache


def generate(params, token, length):
    cache = jnp.zeros((length, params["emb"].shape[1]))
    tokens = []
    for pos in range(length):
        token, cache = decode(params, cache, token, pos)  # finding-also
        tokens.append(token)
    return jnp.stack(tokens)


if __name__ == "__main__":
    params = {"emb": jax.random.normal(jax.random.key(0), (50, 16))}
    print(generate(params, jnp.array(3), 6))
