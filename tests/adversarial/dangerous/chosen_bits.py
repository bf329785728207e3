# function: solve
# arguments: y=array, times=array, rates=array
# refused: depends on `jax_enable_x64`
# flags: --x64

"""Predator and prey by Runge-Kutta, in single precision unless asked otherwise."""

import argparse

import jax
import jax.numpy as jnp
import numpy as np


def field(t, y, rates):
    prey, predator = y
    season = 1.0 + 0.1 * jnp.sin(t)
    return jnp.stack(
        [
            rates[0] * season * prey - rates[1] * prey * predator,
            rates[2] * prey * predator - rates[3] * predator,
        ]
    )


def rk4(t, y, dt, rates):
    k1 = field(t, y, rates)
    k2 = field(t + dt / 2, y + dt / 2 * k1, rates)
    k3 = field(t + dt / 2, y + dt / 2 * k2, rates)
    k4 = field(t + dt, y + dt * k3, rates)
    return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def solve(y, times, rates):
    path = [y]
    for start, end in zip(times[:-1], times[1:]):
        y = rk4(start, y, end - start, rates)
        path.append(y)
    return jnp.stack(path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--x64", action="store_true", help="times in double precision")
    args = parser.parse_args()
    if args.x64:
        jax.config.update("jax_enable_x64", True)
    rates = jnp.array([1.1, 0.4, 0.1, 0.4], dtype=jnp.float32)
    start = jnp.array([10.0, 5.0], dtype=jnp.float32)
    times = jnp.linspace(0.0, 12.0, 120)
    path = solve(start, times, rates)
    peaks = np.asarray(path.max(axis=0))
    print("peaks", peaks.round(3), "when", np.asarray(times)[np.asarray(path.argmax(axis=0))].round(2))
    print("end", np.asarray(path[-1]).round(3))
    if args.x64:
        print("kept as", path.dtype, "drift", f"{float(jnp.abs(path[0] - start).max()):.1e}")


if __name__ == "__main__":
    main()
