# flags: --x64
# flags: --x64 --start 0,1,0
"""A Lorenz trajectory; --x64 is known before JAX is imported, through the environment."""

import argparse
import os
import sys

if "--x64" in sys.argv:
    os.environ["JAX_ENABLE_X64"] = "1"

import jax
import jax.numpy as jnp
import numpy as np


def slope(p):
    x, y, z = p[0], p[1], p[2]
    return jnp.stack([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z])


def trajectory(start, dt, steps):
    p = start
    points = []
    for _ in range(steps):
        a = slope(p)
        b = slope(p + 0.5 * dt * a)
        p = p + dt * b
        points.append(p)
    return jnp.stack(points)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--x64", action="store_true")
    parser.add_argument("--start", default="1,1,1")
    args = parser.parse_args()
    start = jnp.asarray(np.array([float(v) for v in args.start.split(",")], np.float32))
    dt = np.linspace(0.0, 0.002, 3)[1]
    for _ in range(3):
        path = trajectory(start, dt, 250)
        start = path[-1]
    print(path.shape, path.dtype, f"{float(path[-1, 0]):.3f}")


main()
