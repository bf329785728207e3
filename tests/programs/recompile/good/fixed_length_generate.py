# blind: nineteenth

import functools

import jax
import jax.numpy as jnp
from jax import lax

VOCAB, DIM = 32, 16


def init(key):
    k_e, k_m, k_o = jax.random.split(key, 3)
    return {
        "embed": jax.random.normal(k_e, (VOCAB, DIM)),
        "mix": jax.random.normal(k_m, (DIM, DIM)) * DIM ** -0.5,
        "out": jax.random.normal(k_o, (DIM, VOCAB)) * DIM ** -0.5,
    }


def next_logits(params, tokens, length):
    x = params["embed"][tokens]
    seen = jnp.arange(tokens.shape[1]) < length
    decay = jnp.where(seen, 0.7 ** (length - 1 - jnp.arange(tokens.shape[1])), 0.0)
    summary = jnp.einsum("btd,t->bd", x, decay)
    return jnp.tanh(summary @ params["mix"]) @ params["out"]


@functools.partial(jax.jit, static_argnames=("new_tokens",))
def generate(params, key, prompt, new_tokens):
    batch, start = prompt.shape
    tokens = jnp.pad(prompt, ((0, 0), (0, new_tokens)))

    def step(tokens, inputs):
        i, k = inputs
        choice = jax.random.categorical(k, next_logits(params, tokens, i))
        return lax.dynamic_update_slice(tokens, choice[:, None].astype(tokens.dtype), (0, i)), None

    positions = start + jnp.arange(new_tokens)
    tokens, _ = lax.scan(step, tokens, (positions, jax.random.split(key, new_tokens)))
    return tokens


def main():
    k_p, k_t, k_g = jax.random.split(jax.random.key(0), 3)
    params = init(k_p)
    prompt = jax.random.randint(k_t, (3, 5), 0, VOCAB)
    out = generate(params, k_g, prompt, 20)
    print(out.shape, bool((out[:, :5] == prompt).all()), "traces", generate._cache_size())


if __name__ == "__main__":
    main()
