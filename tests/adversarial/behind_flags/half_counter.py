# flags: --dtype bfloat16
"""A signal in steps of a Python counter: in bfloat16 a counter keeps the dtype, and one of an array would widen it."""

import argparse

import jax
import jax.numpy as jnp


def damped(w, n):
    rows = []
    for i in range(n):
        rows.append(jnp.tanh(w * (i / 100)))
    return jnp.stack(rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dtype", default="float32")
    w = jax.random.normal(jax.random.key(0), (64,), jnp.dtype(parser.parse_args().dtype))
    for n in (200, 300):
        found = damped(w, n)
        print(n, found.dtype, f"{float(found.mean()):.2f}")


if __name__ == "__main__":
    main()
