# a model outside jit on tokens that grow; windows, buffers, a few tokens, compiled with one length

import flax.linen as nn
import jax
import jax.numpy as jnp


class Model(nn.Module):
    @nn.compact
    def __call__(self, tokens):
        return nn.Dense(100)(nn.Embed(100, 16)(tokens))

    def generate(self, tokens, key, count=100):
        for _ in range(count):
            logits = self(tokens)[:, -1, :]  # finding
            key, draw = jax.random.split(key)
            new = jax.random.categorical(draw, logits)
            tokens = jnp.concatenate([tokens, new[:, None]], axis=-1)
        return tokens

    def generate_window(self, tokens, key, count=100):
        for _ in range(count):
            logits = self(tokens[:, -8:])[:, -1, :]
            key, draw = jax.random.split(key)
            new = jax.random.categorical(draw, logits)
            tokens = jnp.concatenate([tokens, new[:, None]], axis=-1)
        return tokens


def sample(model, params, tokens, key, count):
    for _ in range(count):
        logits = model.apply(params, tokens)[:, -1]  # finding
        key, draw = jax.random.split(key)
        tokens = jnp.concatenate([tokens, jax.random.categorical(draw, logits)[:, None]], axis=1)
    return tokens


def sample_few(model, params, tokens, key):
    for _ in range(3):
        logits = model.apply(params, tokens)[:, -1]
        key, draw = jax.random.split(key)
        tokens = jnp.concatenate([tokens, jax.random.categorical(draw, logits)[:, None]], axis=1)
    return tokens


def sample_into(model, params, tokens, key, count):
    start = tokens.shape[1]
    tokens = jnp.pad(tokens, ((0, 0), (0, count)))
    for place in range(start, start + count):
        logits = model.apply(params, tokens)[:, place - 1]
        key, draw = jax.random.split(key)
        tokens = tokens.at[:, place].set(jax.random.categorical(draw, logits))
    return tokens


def main():
    model = Model()
    tokens = jnp.zeros((1, 4), jnp.int32)
    params = model.init(jax.random.key(0), tokens)
    sample(model, params, tokens, jax.random.key(1), 100)
    sample_few(model, params, tokens, jax.random.key(1))
    sample_into(model, params, tokens, jax.random.key(1), 100)
    model.apply(params, tokens, jax.random.key(2), method=model.generate)
    model.apply(params, tokens, jax.random.key(2), method=model.generate_window)


main()
