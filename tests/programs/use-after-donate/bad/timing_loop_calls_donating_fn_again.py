# source: jax-ml/jax#9675
# blind: eighteenth

import functools
import time

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, donate_argnames=("cache",))
def decode(params, token, pos, cache):
    h = params["embed"][token]
    k = h @ params["wk"]
    cache = jax.lax.dynamic_update_slice(cache, k[None], (pos, 0))
    scores = cache @ (h @ params["wq"])
    mask = jnp.arange(cache.shape[0]) <= pos
    probs = jax.nn.softmax(jnp.where(mask, scores, -1e9))
    return (probs @ cache) @ params["embed"].T, cache


def init(key, vocab=64, dim=16):
    ks = jax.random.split(key, 3)
    return {
        "embed": jax.random.normal(ks[0], (vocab, dim)),
        "wk": jax.random.normal(ks[1], (dim, dim)) / 4.0,
        "wq": jax.random.normal(ks[2], (dim, dim)) / 4.0,
    }


def benchmark(params, n_iter=5, max_len=32):
    cache = jnp.zeros((max_len, 16))
    logits, _ = decode(params, jnp.asarray(1), jnp.asarray(0), cache)
    logits.block_until_ready()
    start = time.perf_counter()
    for i in range(n_iter):
        logits, _ = decode(params, jnp.asarray(1), jnp.asarray(i), cache)  # finding
    logits.block_until_ready()
    return (time.perf_counter() - start) / n_iter


if __name__ == "__main__":
    print(f"{benchmark(init(jax.random.key(0))) * 1e6:.1f} us/token")
