# function: update
# arguments: w=array, x=array, y=array

"""A frozen configuration, and an options object that is only read."""

import argparse
from dataclasses import dataclass

import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class Config:
    rate: float = 0.2
    decay: float = 1e-3


CONFIG = Config()


def objective(w, x, y):
    return jnp.mean((jnp.tanh(x @ w) - y) ** 2) + CONFIG.decay * jnp.sum(w**2)


def update(w, x, y):
    value, gradient = jax.value_and_grad(objective)(w, x, y)
    return w - CONFIG.rate * gradient, value


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    args = parser.parse_args()
    x = jax.random.normal(jax.random.key(0), (64, 5))
    y = jnp.sign(x[:, 0])
    w = jnp.zeros(5)
    for number in range(args.steps):
        w, value = update(w, x, y)
        if number % 20 == 0:
            print(number, f"{value:.4f}")
    print("w", w)


if __name__ == "__main__":
    main()
