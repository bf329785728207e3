# source: google/maxtext#418
# blind: first

import jax
import jax.numpy as jnp


def decode_step(params, cache, token, position):
    x = params["embed"][token]
    k = x @ params["wk"]
    cache = jax.lax.dynamic_update_slice(cache, k[None], (position, 0))
    scores = cache @ (x @ params["wq"])
    return cache, jnp.argmax(params["out"] @ (jax.nn.softmax(scores) @ cache))


step = jax.jit(decode_step)  # finding


def generate(params, cache, token, n):
    out = []
    for pos in range(n):
        cache, token = step(params, cache, token, jnp.int32(pos))  # finding-also
        out.append(token)
    return out


if __name__ == "__main__":
    d, v = 8, 16
    p = {"embed": jnp.ones((v, d)), "wk": jnp.eye(d), "wq": jnp.eye(d), "out": jnp.ones((v, d))}
    generate(p, jnp.zeros((32, d)), jnp.int32(0), 4)
