# source: google/flax#3165
# blind: first

import jax
import jax.numpy as jnp


@jax.jit
def accumulate(history, params, batch):
    loss = jnp.mean((batch @ params) ** 2)
    total = sum(history.values()) + loss
    return total / (len(history) + 1), loss


def evaluate(params, batches):
    history = {}
    running = 0.0
    for i, batch in enumerate(batches):
        running, loss = accumulate(history, params, batch)  # finding
        history[f"batch_{i}"] = loss
    return running


if __name__ == "__main__":
    print(evaluate(jnp.ones(3), [jnp.ones((2, 3))] * 4))
