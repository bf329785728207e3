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


def token_losses(model, tokens, prompt):
    """Cross-entropy of each token after the prompt."""
    logits = model(tokens[:, :-1])[:, prompt:]
    return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, prompt + 1:])


@nnx.jit(static_argnums=3)
def train_step(model, optimizer, tokens, prompt):
    loss, grads = nnx.value_and_grad(lambda m: token_losses(m, tokens, prompt).mean())(model)
    optimizer.update(model, grads)
    return loss


@nnx.jit
def next_logits(model, tokens):
    return model(tokens)[:, -1]


def decode(model, prompt, n_new):
    """Greedy decoding of one prompt, until the end token."""
    tokens = jnp.array(prompt)[None]
    for _ in range(n_new):
        token = int(jnp.argmax(next_logits(model, tokens)[0]))
        tokens = jnp.concatenate([tokens, jnp.array([[token]])], axis=1)
        if token == END:
            break
    return np.asarray(tokens[0, len(prompt):])


def evaluate_loss(model, tokens, prompt, chunk=20):
    """The mean loss of each position of the answer."""
    total = np.zeros(tokens.shape[1] - prompt - 1)
    for i in range(0, len(tokens), chunk):
        for row in token_losses(model, tokens[i:i + chunk], prompt):
            total += np.asarray(row)
    return total / len(tokens)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--length", type=int, default=8)
    parser.add_argument("--dim", type=int, default=32)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    rng = np.random.default_rng(args.seed)
    model = SortLM(args.dim, 4, 2, 2 * args.length + 2, nnx.Rngs(args.seed))
    schedule = optax.cosine_decay_schedule(8e-3, args.steps)
    optimizer = nnx.Optimizer(model, optax.adamw(schedule, weight_decay=1e-4), wrt=nnx.Param)

    held_out = make_batch(rng, 140, args.length)
    running = 0.0
    for step in range(1, args.steps + 1):
        batch = make_batch(rng, 32, args.length)
        loss = train_step(model, optimizer, batch, args.length)
        running += float(loss)
        if step % 40 == 0:
            print(f"step {step}: loss {running / 40:.2f}, held out {evaluate_loss(model, held_out, args.length).mean():.2f}")
            running = 0.0

    by_position = evaluate_loss(model, held_out, args.length)
    print("hardest position:", int(by_position.argmax()))
    tokens_right, solved = 0, 0
    for row in held_out:
        truth = row[args.length + 1:]
        answer = decode(model, row[:args.length + 1], args.length + 1)
        n = min(len(answer), len(truth))
        tokens_right += int((answer[:n] == truth[:n]).sum())
        solved += len(answer) == len(truth) and bool((answer == truth).all())
    print(f"tokens right: {tokens_right / (len(held_out) * (args.length + 1)):.2f}, solved: {solved}")


if __name__ == "__main__":
    main()
