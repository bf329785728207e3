# source: jax-ml/jax#24411
# blind: first

import jax
import jax.numpy as jnp

EOS = 0


@jax.jit
def next_logits(params, cache, token):
    cache = 0.9 * cache + params["embed"][token]
    return cache @ params["head"], cache


def generate(params, prompt, max_new=64):
    cache = jnp.zeros(params["embed"].shape[1])
    token = prompt
    out = []
    for _ in range(max_new):
        logits, cache = next_logits(params, cache, token)
        token = int(jnp.argmax(logits))  # finding
        if token == EOS:
            break
        out.append(token)
    return out


if __name__ == "__main__":
    k1, k2 = jax.random.split(jax.random.key(0))
    params = {"embed": jax.random.normal(k1, (50, 16)), "head": jax.random.normal(k2, (16, 50))}
    print(generate(params, 3))
