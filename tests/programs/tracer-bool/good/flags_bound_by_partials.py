# blind: every clause

import enum
import functools

import jax
import jax.numpy as jnp


class Mode(enum.Enum):
    TRAIN = 1
    EVAL = 2


def forward(params, x, training=False, kind="relu", mode=Mode.EVAL):
    h = x @ params
    if training:
        h = h * 2
    if mode == Mode.TRAIN:
        h = h + 1
    return jax.nn.relu(h) if kind == "relu" else h


train = jax.jit(functools.partial(forward, training=True, mode=Mode.TRAIN))
evaluate = jax.jit(forward)
either = jax.jit(forward, static_argnames=("training", "kind"))
w = jnp.eye(2)
print(train(w, w), evaluate(w, w), either(w, w, training=True, kind="id"))
