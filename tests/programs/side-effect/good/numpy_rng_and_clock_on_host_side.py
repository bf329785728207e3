# source: jcmgray/autoray#27
# blind: eighteenth

import functools
import time

import jax
import jax.numpy as jnp
import numpy as np


def corrupt_on_host(rng, batch, rate=0.15):
    mask = rng.random(batch.shape) < rate
    return np.where(mask, 0, batch), mask


@functools.partial(jax.jit, donate_argnums=0)
def train_step(table, inputs, targets, mask):
    def loss_fn(t):
        logits = t[inputs]
        logp = jax.nn.log_softmax(logits)
        nll = -jnp.take_along_axis(logp, targets[..., None], axis=-1)[..., 0]
        return (nll * mask).sum() / jnp.maximum(mask.sum(), 1)

    loss, grad = jax.value_and_grad(loss_fn)(table)
    return table - 0.5 * grad, loss


def main(steps=4, vocab=16):
    rng = np.random.default_rng(0)
    table = jnp.zeros((vocab, vocab))
    tokens = rng.integers(1, vocab, size=(steps, 8, 12))
    started = time.perf_counter()
    for batch in tokens:
        inputs, mask = corrupt_on_host(rng, batch)
        table, loss = train_step(table, inputs, batch, mask)
    loss.block_until_ready()
    print(f"{time.perf_counter() - started:.2f}s for everything, compilation included; loss {loss:.3f}")


if __name__ == "__main__":
    main()
