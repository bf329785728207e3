# source: jax-ml/jax#9288
# blind: first

import functools

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, static_argnames=("activation",))
def layer(w, x, activation):
    return activation(x @ w)


def leaky(x, slope):
    return jnp.where(x > 0, x, slope * x)


def forward(weights, x):
    for w in weights:
        x = layer(w, x, activation=lambda z: leaky(z, 0.1))  # finding
    return x


if __name__ == "__main__":
    print(forward([jnp.eye(3)] * 4, jnp.ones((2, 3))))
