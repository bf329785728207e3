# source: jax-ml/jax#2783

import jax
import jax.numpy as jnp


class Logger:
    def __init__(self):
        self.lines = []

    def info(self, text):
        print(text)


logger = Logger()


def huber(residual, delta=1.0):
    small = jnp.abs(residual) < delta
    return jnp.where(small, 0.5 * residual**2, delta * (jnp.abs(residual) - 0.5 * delta))


@jax.jit
def update(w, x, y):
    def objective(w):
        value = huber(x @ w - y).mean()
        logger.info(f"objective {value:.4f}")  # finding
        return value

    return w - 0.1 * jax.grad(objective)(w)


def main():
    w = jnp.zeros(3)
    for _ in range(3):
        w = update(w, jnp.ones((5, 3)), jnp.arange(5.0))
    print(w)


main()
