# blind: ninth

import jax
import jax.numpy as jnp
import numpy as np


class Logger:
    def __init__(self):
        self.rows = []

    def scalar(self, value):
        self.rows.append(float(value))


def make_step(logger, lr):
    def step(params, batch):
        loss, grads = jax.value_and_grad(lambda p: jnp.mean((batch @ p) ** 2))(params)
        scale = jnp.sqrt(jnp.sum(grads**2))
        jax.debug.callback(lambda value: logger.scalar(value / np.asarray(scale)), loss)  # finding
        return params - lr * grads, loss

    return jax.jit(step)


if __name__ == "__main__":
    logger = Logger()
    step = make_step(logger, 0.1)
    step(jnp.ones(3), jnp.ones((4, 3)))
    jax.effects_barrier()
    print(logger.rows)
