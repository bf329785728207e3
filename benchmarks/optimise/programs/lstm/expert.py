"""The same as naive.py with the time in a scan, as haiku's own example does.

After https://github.com/google-deepmind/dm-haiku: examples/rnn_shakespeare.py (`hk.dynamic_unroll`, one jitted update) and
examples/mnist.py; donation as in examples of optax and t5x.
"""

import argparse
import functools

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

VOCABULARY = 32
WIDTH = 128


class CharModel(hk.Module):
    def __init__(self, width, vocabulary):
        super().__init__()
        self.embed = hk.Embed(vocabulary, width)
        self.cell = hk.LSTM(width)
        self.head = hk.Linear(vocabulary)

    def __call__(self, tokens):
        batch, _ = tokens.shape
        state = self.cell.initial_state(batch)
        embedded = self.embed(tokens)
        outputs, _ = hk.dynamic_unroll(self.cell, embedded.swapaxes(0, 1), state)
        return hk.BatchApply(self.head)(outputs).swapaxes(0, 1)


def forward(tokens):
    return CharModel(WIDTH, VOCABULARY)(tokens)


model = hk.without_apply_rng(hk.transform(forward))
optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(3e-3))


def loss_fn(params, tokens):
    logits = model.apply(params, tokens[:, :-1])
    losses = optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:])
    return losses.mean()


@functools.partial(jax.jit, donate_argnums=(0, 1))
def update(params, opt_state, tokens):
    loss, grads = jax.value_and_grad(loss_fn)(params, tokens)
    updates, opt_state = optimizer.update(grads, opt_state)
    params = optax.apply_updates(params, updates)
    return params, opt_state, loss


def make_text(count):
    rng = np.random.default_rng(0)
    words = [rng.integers(0, VOCABULARY, size=n) for n in rng.integers(2, 7, size=40)]
    text = np.concatenate([words[i] for i in rng.integers(0, 40, size=count)])
    return text.astype(np.int32)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--length", type=int, default=16)
    args = parser.parse_args()

    text = make_text(20_000)
    rng = np.random.default_rng(1)
    params = jax.jit(model.init)(jax.random.PRNGKey(0), jnp.zeros((1, args.length), jnp.int32))
    opt_state = optimizer.init(params)
    losses = []
    for step in range(args.steps):
        starts = rng.integers(0, len(text) - args.length - 1, size=args.batch_size)
        tokens = np.stack([text[s : s + args.length + 1] for s in starts])
        params, opt_state, loss = update(params, opt_state, tokens)
        losses.append(loss)
        if step % 10 == 0:
            print(f"step {step} loss {np.mean(jax.device_get(losses[-10:])):.4f}")


if __name__ == "__main__":
    main()
