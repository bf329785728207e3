"""A small decoder-only transformer (flax nnx) that learns to sort digits.

A sequence is `d d d d d d > s s s s s s .`, where the part after `>` is sorted.
We train on random prompts and then decode greedily.
"""
import argparse

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

SEP, END, VOCAB = 10, 11, 12


def make_batch(rng, n, length):
    digits = rng.integers(0, 10, (n, length))
    sep, end = np.full((n, 1), SEP), np.full((n, 1), END)
    return np.concatenate([digits, sep, np.sort(digits, axis=1), end], axis=1)


class Attention(nnx.Module):
    def __init__(self, dim, heads, rngs):
        self.heads = heads
        self.qkv = nnx.Linear(dim, 3 * dim, rngs=rngs)
        self.out = nnx.Linear(dim, dim, rngs=rngs)

    def __call__(self, x):
        n, t, dim = x.shape
        q, k, v = jnp.split(self.qkv(x).reshape(n, t, self.heads, -1), 3, axis=-1)
        scores = jnp.einsum("nqhd,nkhd->nhqk", q, k) / np.sqrt(dim / self.heads).astype(np.float32)
        scores = jnp.where(np.tril(np.ones((t, t), bool)), scores, -1e9)
        mixed = jnp.einsum("nhqk,nkhd->nqhd", jax.nn.softmax(scores, axis=-1), v)
        return self.out(mixed.reshape(n, t, dim))


class Layer(nnx.Module):
    def __init__(self, dim, heads, rngs):
        self.norm1 = nnx.LayerNorm(dim, rngs=rngs)
        self.attention = Attention(dim, heads, rngs)
        self.norm2 = nnx.LayerNorm(dim, rngs=rngs)
        self.up = nnx.Linear(dim, 2 * dim, rngs=rngs)
        self.down = nnx.Linear(2 * dim, dim, rngs=rngs)

    def __call__(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(nnx.gelu(self.up(self.norm2(x))))


class SortLM(nnx.Module):
    def __init__(self, dim, heads, depth, max_len, rngs):
        self.embed = nnx.Embed(VOCAB, dim, rngs=rngs)
        self.position = nnx.Param(0.1 * jax.random.normal(rngs.params(), (max_len, dim)))
        self.layers = nnx.List([Layer(dim, heads, rngs) for _ in range(depth)])
        self.norm = nnx.LayerNorm(dim, rngs=rngs)
        self.head = nnx.Linear(dim, VOCAB, rngs=rngs)

    def __call__(self, tokens):
        x = self.embed(tokens) + self.position[: tokens.shape[1]]
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


@nnx.jit(static_argnums=(0, 1, 2))
def create(dim, length, seed):
    return SortLM(dim, 4, 2, 2 * length + 2, nnx.Rngs(seed))


def token_losses(model, tokens, prompt):
    """Cross-entropy of each token after the prompt."""
    logits = model(tokens[:, :-1])[:, prompt:]
    return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, prompt + 1:])


def make_trainer(prompt):
    """A compiled loop over many batches."""

    def step(carry, tokens):
        model, optimizer = carry
        loss, grads = nnx.value_and_grad(lambda m: token_losses(m, tokens, prompt).mean())(model)
        optimizer.update(model, grads)
        return (model, optimizer), loss

    @nnx.jit
    def train_steps(model, optimizer, batches):
        _, losses = nnx.scan(step, in_axes=(nnx.Carry, 0), out_axes=(nnx.Carry, 0))((model, optimizer), batches)
        return losses

    return train_steps


@nnx.jit(static_argnums=2)
def evaluate_loss(model, tokens, prompt):
    """The mean loss of each position of the answer."""
    return token_losses(model, tokens, prompt).mean(axis=0)


@nnx.jit(static_argnums=2)
def decode(model, prompts, n_new):
    """Greedy decoding of all prompts. The mask is causal, so that what is not written yet doesn't matter."""
    graphdef, state = nnx.split(model)
    start = prompts.shape[1]
    tokens = jnp.pad(prompts, ((0, 0), (0, n_new)), constant_values=END)

    def write(i, tokens):
        logits = nnx.merge(graphdef, state)(tokens)
        return tokens.at[:, i].set(jnp.argmax(logits[:, i - 1], axis=-1).astype(tokens.dtype))

    return jax.lax.fori_loop(start, start + n_new, write, tokens)[:, start:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--length", type=int, default=8)
    parser.add_argument("--dim", type=int, default=32)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    rng = np.random.default_rng(args.seed)
    model = create(args.dim, args.length, args.seed)
    schedule = optax.cosine_decay_schedule(8e-3, args.steps)
    optimizer = nnx.Optimizer(model, optax.adamw(schedule, weight_decay=1e-4), wrt=nnx.Param)

    held_out = make_batch(rng, 140, args.length)
    train_steps = make_trainer(args.length)
    for step in range(40, args.steps + 1, 40):
        batches = np.stack([make_batch(rng, 32, args.length) for _ in range(40)])
        loss = np.asarray(train_steps(model, optimizer, batches)).astype(float).mean()
        by_position = np.asarray(evaluate_loss(model, held_out, args.length))
        print(f"step {step}: loss {loss:.2f}, held out {by_position.mean():.2f}")

    print("hardest position:", int(by_position.argmax()))
    answers = np.asarray(decode(model, held_out[:, :args.length + 1], args.length + 1))
    right = answers == held_out[:, args.length + 1:]
    # Nothing counts after the first end token.
    ended = np.cumsum(answers == END, axis=1) - (answers == END) > 0
    right &= ~ended
    print(f"tokens right: {right.mean():.2f}, solved: {int(right.all(axis=1).sum())}")


if __name__ == "__main__":
    main()
