# source: jax-ml/jax#1897

import jax
import jax.numpy as jnp


@jax.jit
def forward(params, x):
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    for axis in range(x.ndim):
        x = x - x.mean(axis, keepdims=True)
    return x @ params[-1]["w"] + params[-1]["b"]


def init(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        {"w": jax.random.normal(k, (i, o)), "b": jnp.zeros(o)}
        for k, i, o in zip(keys, sizes, sizes[1:])
    ]


if __name__ == "__main__":
    print(forward(init(jax.random.key(0), [3, 8, 2]), jnp.ones((4, 3))))
