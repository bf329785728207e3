"""The same as naive.py, the cross-entropy by blocks of tokens whose scores are made again for the backward pass; donated.

After https://github.com/AI-Hypercomputer/maxtext (`num_vocab_tiling`, utils/vocabulary_tiling.py) and https://github.com/marin-community/levanter
(models/loss.py, `fused_cross_entropy_loss_and_logsumexp_penalty`).
"""

import argparse
import functools

import jax
import jax.numpy as jnp
import numpy as np

VOCABULARY, WIDTH, BLOCK = 16384, 128, 256


def losses_of(h, table, labels):
    """The losses of a block of tokens, whose scores are made again in the backward pass."""
    logits = h @ table
    picked = jnp.take_along_axis(logits, labels[:, None], axis=-1)[:, 0]
    return jax.nn.logsumexp(logits, axis=-1) - picked


def loss_fn(params, hidden, labels):
    h = jax.nn.gelu(hidden @ params["hidden"]).reshape(-1, BLOCK, WIDTH)

    def block(total, x):
        return total + jnp.sum(jax.checkpoint(losses_of)(x[0], params["vocabulary"], x[1])), None

    total, _ = jax.lax.scan(block, 0.0, (h, labels.reshape(-1, BLOCK)))
    return total / labels.size


@functools.partial(jax.jit, donate_argnames="params")
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
