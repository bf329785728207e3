"""Trains a decoder-only transformer in flax linen on a synthetic language."""

import argparse

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state

VOCABULARY, LENGTH = 2048, 128


class Block(nn.Module):
    heads: int

    @nn.compact
    def __call__(self, x, mask):
        h = nn.LayerNorm()(x)
        x = x + nn.MultiHeadDotProductAttention(num_heads=self.heads)(h, h, mask=mask)
        h = nn.LayerNorm()(x)
        h = nn.gelu(nn.Dense(4 * x.shape[-1])(h))
        return x + nn.Dense(x.shape[-1])(h)


class Transformer(nn.Module):
    width: int = 128
    depth: int = 6
    heads: int = 4

    @nn.compact
    def __call__(self, tokens):
        positions = self.param("positions", nn.initializers.normal(0.02), (LENGTH, self.width))
        x = nn.Embed(VOCABULARY, self.width)(tokens) + positions
        mask = nn.make_causal_mask(tokens)
        for _ in range(self.depth):
            x = Block(self.heads)(x, mask)
        return nn.Dense(VOCABULARY)(nn.LayerNorm()(x))


def batches(count, size):
    rng = np.random.default_rng(0)
    follow = rng.integers(0, VOCABULARY, size=(VOCABULARY, 4))
    for _ in range(count):
        words = np.empty((size, LENGTH + 1), np.int64)
        words[:, 0] = rng.integers(0, VOCABULARY, size=size)
        for i in range(LENGTH):
            words[:, i + 1] = follow[words[:, i], rng.integers(0, 4, size=size)]
        yield words[:, :-1], words[:, 1:]


def loss_fn(params, apply_fn, inputs, labels):
    logits = apply_fn({"params": params}, inputs)
    one_hot = jax.nn.one_hot(labels, VOCABULARY)
    return optax.softmax_cross_entropy(logits, one_hot).mean()


@jax.jit
def train_step(state, inputs, labels):
    loss, grads = jax.value_and_grad(loss_fn)(state.params, state.apply_fn, inputs, labels)
    return state.apply_gradients(grads=grads), loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=8)
    args = parser.parse_args()

    model = Transformer()
    params = model.init(jax.random.PRNGKey(0), jnp.zeros((1, LENGTH), jnp.int32))["params"]
    state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adamw(1e-3))
    for step, (inputs, labels) in enumerate(batches(args.steps, args.batch_size)):
        state, loss = train_step(state, inputs, labels)
        print(f"step {step} loss {float(loss):.4f}")


if __name__ == "__main__":
    main()
