# source: jax-ml/jax#3097
# blind: first

import logging

import jax
import jax.numpy as jnp

log = logging.getLogger(__name__)


def describe(name, value):
    return f"{name}={value:.4f}"  # finding


def loss_fn(params, batch):
    pred = jnp.tanh(batch["x"] @ params)
    loss = jnp.mean(jnp.square(pred - batch["y"]))
    log.info(describe("loss", loss))  # finding-also
    return loss


@jax.jit
def update(params, batch):
    return params - 0.1 * jax.grad(loss_fn)(params, batch)


if __name__ == "__main__":
    print(update(jnp.ones(3), {"x": jnp.ones((2, 3)), "y": jnp.ones(2)}))
