# function: predict
# arguments: x=array, weights=array
# refused: `id(x)`

"""Kernel matrices are remembered by the identity of their inputs."""

import jax
import jax.numpy as jnp

_kernels = {}


def kernel(x, scale):
    key = id(x)
    if key not in _kernels:
        distance = jnp.sum((x[:, None] - x[None, :]) ** 2, axis=-1)
        _kernels[key] = jnp.exp(-distance / scale)
    return _kernels[key]


def predict(x, weights):
    return kernel(x, 2.0) @ weights


def main():
    x = jax.random.normal(jax.random.key(0), (40, 3))
    weights = jnp.ones(40)
    total = 0.0
    for number in range(30):
        total += predict(x, weights * number).sum()
    print("total", total, "kernels", len(_kernels))


if __name__ == "__main__":
    main()
