"""Trains the last layer of a language model: a projection to a large vocabulary and its cross-entropy."""

import argparse

import jax
import jax.numpy as jnp
import numpy as np

VOCABULARY, WIDTH = 16384, 128


def loss_fn(params, hidden, labels):
    h = jax.nn.gelu(hidden @ params["hidden"])
    logits = h @ params["vocabulary"]
    log_probabilities = jax.nn.log_softmax(logits)
    picked = jax.nn.one_hot(labels, VOCABULARY) * log_probabilities
    return -jnp.mean(jnp.sum(picked, axis=-1))


@jax.jit
def train_step(params, hidden, labels):
    loss, grads = jax.value_and_grad(loss_fn)(params, hidden, labels)
    return jax.tree.map(lambda p, g: p - 0.5 * g, params, grads), loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--tokens", type=int, default=2048)
    args = parser.parse_args()

    first, second = jax.random.split(jax.random.PRNGKey(0))
    params = {
        "hidden": jax.random.normal(first, (WIDTH, WIDTH)) / np.sqrt(WIDTH),
        "vocabulary": jax.random.normal(second, (WIDTH, VOCABULARY)) / np.sqrt(WIDTH),
    }
    rng = np.random.default_rng(0)
    for step in range(args.steps):
        hidden = rng.normal(size=(args.tokens, WIDTH)).astype(np.float32)
        labels = rng.integers(0, VOCABULARY, size=args.tokens).astype(np.int32)
        params, loss = train_step(params, hidden, labels)
        print(f"step {step} loss {float(loss):.3f}")


if __name__ == "__main__":
    main()
