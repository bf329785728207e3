# source: jax-ml/jax#3701

import functools
from types import SimpleNamespace

import jax
import jax.numpy as jnp

cfg = SimpleNamespace(width=16, depth=2, activation="relu")


@functools.partial(jax.jit, static_argnums=2)
def forward(params, x, config):
    act = getattr(jax.nn, config.activation)
    for i in range(config.depth):
        x = act(x @ params[i])
    return x


def evaluate(params, batches):
    return [forward(params, batch, cfg) for batch in batches]  # finding


if __name__ == "__main__":
    params = [jnp.eye(cfg.width)] * cfg.depth
    print(evaluate(params, [jnp.ones((2, 16))])[0].shape)
