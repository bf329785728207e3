# function: step
# arguments: w=array, x=array, y=array
# refused: LOG.write(

"""Each step writes a line of a log."""

import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp

FOLDER = Path(tempfile.mkdtemp())
LOG = open(FOLDER / "train.log", "w")


def note(message, value):
    LOG.write(f"{message} {value}\n")


def forward(w, x):
    hidden = jnp.tanh(x @ w)
    note("mean of the hidden layer", hidden.mean())
    return hidden


def step(w, x, y):
    error = forward(w, x) - y
    return w - 0.1 * x.T @ error / x.shape[0], jnp.mean(error**2)


def main():
    x = jax.random.normal(jax.random.key(0), (32, 4))
    y = jnp.sin(x)
    w = jnp.eye(4)
    for _ in range(100):
        w, value = step(w, x, y)
    LOG.close()
    print("loss", value)


if __name__ == "__main__":
    main()
