# source: google/brax#208
# blind: first

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("training", "level"))
def forward(w, x, training, level):
    y = x @ w * (2**level)
    return jnp.tanh(y) if training else y


def evaluate(w, xs):
    outs = []
    for level in (0, 1, 2):
        outs.append(sum(forward(w, x, False, level).sum() for x in xs))
    return outs


@partial(jax.jit, donate_argnums=0)
def update(w, step):
    return w - 0.1 / (1 + step)


def train(w, n):
    for step in range(n):
        w = update(w, step)
    return w


if __name__ == "__main__":
    print(evaluate(train(jnp.ones((2, 2)), 3), [jnp.ones((3, 2))]))
