# function: shrink
# arguments: cloud=array, order=NoneType
# refused: passes a tracer where JAX wants a static value
# flags: --order fro

"""The norm is None unless an option names one: a number or a text, which JAX wants static."""

import argparse

import jax
import jax.numpy as jnp


def shrink(cloud, order):
    cloud = jnp.tanh(cloud) * 1.05
    size = jnp.linalg.norm(cloud, order)
    return cloud / (1 + 0.001 * size), size


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--order", default=None, type=lambda text: int(text) if text.isdigit() else text)
    args = parser.parse_args()
    cloud = jax.random.normal(jax.random.key(2), (400, 2))
    for _ in range(15):
        cloud, size = shrink(cloud, args.order)
    print(f"{float(jnp.abs(cloud).mean()):.3f} {float(size):.2f}")


if __name__ == "__main__":
    main()
