# function: step
# arguments: w=array, x=array
# refused: seen.append(

"""Hooks are called with the values of each step."""

import jax
import jax.numpy as jnp

seen = []
CALLBACKS = [lambda name, value: seen.append((name, value))]


def notify(name, value):
    for callback in CALLBACKS:
        callback(name, value)


def step(w, x):
    hidden = jnp.tanh(x @ w)
    notify("hidden", hidden.mean())
    return w + 0.01 * (x.T @ hidden) / x.shape[0]


def main():
    x = jax.random.normal(jax.random.key(0), (32, 8))
    w = jnp.eye(8)
    for _ in range(60):
        w = step(w, x)
    print("hooks ran", len(seen), "w", w[0, :3])


if __name__ == "__main__":
    main()
