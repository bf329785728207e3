# source: jax-ml/jax#5000

import jax
import jax.numpy as jnp


@jax.jit
def decode_one(params, cache, token):
    x = params["emb"][token]
    q, k, v = x @ params["q"], x @ params["k"], x @ params["v"]
    keys = jnp.concatenate([cache["k"], k[None]])
    values = jnp.concatenate([cache["v"], v[None]])
    att = jax.nn.softmax(keys @ q / jnp.sqrt(q.shape[-1]))
    logits = (att @ values) @ params["out"]
    return jnp.argmax(logits), {"k": keys, "v": values}


def generate(params, prompt, n_new):
    dim = params["k"].shape[1]
    cache = {"k": jnp.zeros((0, dim)), "v": jnp.zeros((0, dim))}
    token, out = prompt[0], []
    for t in range(len(prompt) + n_new):
        token, cache = decode_one(params, cache, token)  # finding
        if t + 1 < len(prompt):
            token = prompt[t + 1]
        else:
            out.append(token)
    return jnp.stack(out)


if __name__ == "__main__":
    p = {n: jnp.eye(6) for n in ("emb", "q", "k", "v", "out")}
    print(generate(p, jnp.array([1, 2, 3]), 6))
