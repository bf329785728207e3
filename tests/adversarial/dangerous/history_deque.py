# function: track
# arguments: w=array, x=array
# refused: history.append(value)

"""The last values are kept in a deque and averaged."""

from collections import deque

import jax
import jax.numpy as jnp

history = deque(maxlen=5)


def averaged(value):
    history.append(value)
    return sum(history) / len(history)


def track(w, x):
    value = jnp.mean(jnp.tanh(x @ w))
    return averaged(value)


def main():
    x = jax.random.normal(jax.random.key(0), (64, 4))
    w = jnp.ones(4)
    for number in range(50):
        smooth = track(w * number / 50, x)
    print("smooth", smooth)


if __name__ == "__main__":
    main()
