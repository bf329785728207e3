# source: huggingface/transformers#21234

import jax
import jax.numpy as jnp

EOS = 0


@jax.jit
def next_token(params, tokens, pos):
    visible = (jnp.arange(tokens.shape[0]) < pos)[:, None]
    context = jnp.sum(params["emb"][tokens] * visible, 0) / pos
    token = jnp.argmax(context @ params["out"])
    return tokens.at[pos].set(token), token


def generate(params, prompt, max_len=32):
    tokens = jnp.zeros(max_len, jnp.int32).at[: len(prompt)].set(jnp.array(prompt))
    text = list(prompt)
    for pos in range(len(prompt), max_len):
        tokens, token = next_token(params, tokens, pos)
        token_id = int(token)  # finding
        if token_id == EOS:
            break
        text.append(token_id)
    return text


if __name__ == "__main__":
    params = {"emb": jnp.eye(8), "out": jnp.roll(jnp.eye(8), 1, axis=1)}
    print(generate(params, [3, 5]))
