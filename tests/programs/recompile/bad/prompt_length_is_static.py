# source: huggingface/transformers#17843
# blind: second

from functools import partial

import jax
import jax.numpy as jnp

VOCAB = 50


def attend(params, tokens, length):
    x = params["embed"][tokens]
    scores = x @ x.T / jnp.sqrt(x.shape[-1])
    mask = jnp.tril(jnp.ones((length, length), bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9))
    return (weights @ x) @ params["out"]


@partial(jax.jit, static_argnames=("length",))
def next_logits(params, padded, length):
    tokens = jax.lax.dynamic_slice_in_dim(padded, 0, length)
    return attend(params, tokens, length)[-1]


def pad(prompt, size=32):
    return jnp.zeros(size, jnp.int32).at[: len(prompt)].set(jnp.array(prompt))


def rank(params, prompts):
    best = []
    for prompt in prompts:
        logits = next_logits(params, pad(prompt), length=len(prompt))  # finding
        best.append(jnp.argmax(logits))
    return jnp.stack(best)


if __name__ == "__main__":
    ke, ko = jax.random.split(jax.random.key(0))
    params = {
        "embed": jax.random.normal(ke, (VOCAB, 16)),
        "out": jax.random.normal(ko, (16, VOCAB)),
    }
    prompts = [[1, 4], [3, 2, 7, 9], [5], [8, 8, 1], [2, 3, 4, 5, 6]]
    print(rank(params, prompts))
