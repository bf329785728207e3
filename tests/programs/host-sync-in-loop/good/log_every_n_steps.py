# source: google/flax#1014
# blind: first

import logging

import jax
import jax.numpy as jnp

logger = logging.getLogger(__name__)


def step(w, x):
    loss, g = jax.value_and_grad(lambda w: jnp.mean((x @ w) ** 2))(w)
    return w - 0.1 * g, {"loss": loss}


step = jax.jit(step, donate_argnums=0)


def train(w, data, log_every=100):
    pending = []
    for i, x in enumerate(data):
        w, metrics = step(w, x)
        pending.append(metrics)
        if (i + 1) % log_every == 0:
            fetched = jax.device_get(pending)
            logger.info("step %d loss %.4f", i, sum(m["loss"] for m in fetched) / len(fetched))
            pending.clear()
    return w


if __name__ == "__main__":
    train(jnp.ones(4), [jnp.ones((2, 4))] * 4, log_every=2)
