# source: jax-ml/jax#11303
# blind: fifth

import jax
import jax.numpy as jnp

MAX_LEN, DIM, VOCAB = 2048, 64, 100


def init_cache(batch):
    return {"k": jnp.zeros((batch, MAX_LEN, DIM)), "v": jnp.zeros((batch, MAX_LEN, DIM))}


def decode_step(params, cache, token, position):
    x = params["emb"][token]
    k, v, q = (x @ params[name] for name in ("k", "v", "q"))
    cache = {
        "k": jax.lax.dynamic_update_slice_in_dim(cache["k"], k[:, None], position, axis=1),
        "v": jax.lax.dynamic_update_slice_in_dim(cache["v"], v[:, None], position, axis=1),
    }
    scores = jnp.einsum("bd,bld->bl", q, cache["k"]) / DIM**0.5
    scores = jnp.where(jnp.arange(MAX_LEN) <= position, scores, -jnp.inf)
    out = jnp.einsum("bl,bld->bd", jax.nn.softmax(scores), cache["v"])
    return jnp.argmax(out @ params["emb"].T, axis=-1), cache


def generate(params, prompt, n_tokens):
    step = jax.jit(decode_step)  # finding
    cache = init_cache(prompt.shape[0])
    token, produced = prompt, []
    for position in range(n_tokens):
        token, cache = step(params, cache, token, position)  # finding-also
        produced.append(token)
    return jnp.stack(produced, axis=1)


if __name__ == "__main__":
    keys = jax.random.split(jax.random.key(0), 4)
    params = {name: jax.random.normal(k, (DIM, DIM)) * 0.1 for name, k in zip("kvq", keys)}
    params["emb"] = jax.random.normal(keys[3], (VOCAB, DIM))
    print(generate(params, jnp.zeros(2, jnp.int32), 4))
