# source: google/jax#5263
# blind: first

import logging
from functools import partial

import jax
import jax.numpy as jnp

logger = logging.getLogger("train")


@partial(jax.jit, donate_argnums=0)
def step(w, x):
    loss, g = jax.value_and_grad(lambda w: jnp.mean((x @ w) ** 2))(w)
    return w - 0.1 * g, loss


def train(w, data):
    for i, x in enumerate(data):
        w, loss = step(w, x)
        logger.info("step %d loss %.4f", i, loss)  # finding
    return w


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    train(jnp.ones(4), [jnp.ones((2, 4))] * 3)
