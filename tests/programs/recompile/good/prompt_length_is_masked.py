# source: huggingface/transformers#17843
# blind: second

import jax
import jax.numpy as jnp

VOCAB = 50
MAX_LENGTH = 32


def attend(params, tokens, length):
    x = params["embed"][tokens]
    scores = x @ x.T / jnp.sqrt(x.shape[-1])
    places = jnp.arange(tokens.shape[0])
    mask = (places[None, :] <= places[:, None]) & (places[None, :] < length)
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9))
    return (weights @ x) @ params["out"]


@jax.jit
def next_logits(params, padded, length):
    return attend(params, padded, length)[length - 1]


def pad(prompt, size=MAX_LENGTH):
    return jnp.zeros(size, jnp.int32).at[: len(prompt)].set(jnp.array(prompt))


def rank(params, prompts):
    padded = jnp.stack([pad(prompt) for prompt in prompts])
    lengths = jnp.array([len(prompt) for prompt in prompts])
    logits = jax.vmap(next_logits, in_axes=(None, 0, 0))(params, padded, lengths)
    return jnp.argmax(logits, axis=-1)


if __name__ == "__main__":
    ke, ko = jax.random.split(jax.random.key(0))
    params = {
        "embed": jax.random.normal(ke, (VOCAB, 16)),
        "out": jax.random.normal(ko, (16, VOCAB)),
    }
    prompts = [[1, 4], [3, 2, 7, 9], [5], [8, 8, 1], [2, 3, 4, 5, 6]]
    print(rank(params, prompts))
