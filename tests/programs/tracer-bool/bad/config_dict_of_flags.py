# source: google/flax#4085

import jax
import jax.numpy as jnp

CONFIG = {"use_residual": True, "scale": 0.5, "normalise": False}


def layer_norm(x):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)


def block(params, x, config):
    h = jnp.tanh(x @ params) * config["scale"]
    if config["normalise"]:  # finding
        h = layer_norm(h)
    return x + h if config["use_residual"] else h  # finding


@jax.jit
def forward(params, x, config):
    for p in params:
        x = block(p, x, config)
    return x


def main():
    params = [jnp.eye(4) * 0.1, jnp.eye(4) * 0.2]
    print(forward(params, jnp.ones((2, 4)), CONFIG))


if __name__ == "__main__":
    main()
