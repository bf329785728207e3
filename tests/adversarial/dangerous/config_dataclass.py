# function: update
# arguments: w=array, x=array, y=array
# refused: reads `CONFIG`, which changes at

"""A configuration object whose learning rate drops when the loss stalls."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp


@dataclass
class Config:
    rate: float = 0.2
    decay: float = 1e-3
    patience: int = 10


CONFIG = Config()


def objective(w, x, y):
    return jnp.mean((jnp.tanh(x @ w) - y) ** 2) + CONFIG.decay * jnp.sum(w**2)


def update(w, x, y):
    value, gradient = jax.value_and_grad(objective)(w, x, y)
    return w - CONFIG.rate * gradient, value


def slow_down(config):
    config.rate = config.rate / 2


def main():
    x = jax.random.normal(jax.random.key(0), (64, 5))
    y = jnp.sign(x[:, 0])
    w = jnp.zeros(5)
    best, waited = float("inf"), 0
    for _ in range(80):
        w, value = update(w, x, y)
        waited = 0 if value < best - 1e-3 else waited + 1
        best = min(best, float(value))
        if waited > CONFIG.patience:
            slow_down(CONFIG)
            waited = 0
    print("best", best)


if __name__ == "__main__":
    main()
