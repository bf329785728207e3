# function: aligned
# arguments: rows=list, target=array
# refused: `rows` may be an iterator
# flags: --lazy

"""Edit distances by a soft minimum; the rows come as a list, or one by one from a generator."""

import argparse

import jax
import jax.numpy as jnp
import numpy as np


def aligned(rows, target):
    best = jnp.full(len(target), 10.0)
    for row in rows:
        cost = jnp.abs(row - target)
        soft = -jax.nn.logsumexp(-jnp.stack([best, jnp.roll(best, 1), jnp.roll(best, 2)]), axis=0)
        best = cost + 0.5 * soft + 0.01 * jnp.tanh(cost)
    return jnp.min(best), jnp.mean(best)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lazy", action="store_true")
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    target = jnp.sin(jnp.linspace(0, 9, 40))
    for turn in range(25):
        values = rng.normal(size=(20, 40)).astype(np.float32)
        rows = (jnp.asarray(row) for row in values) if args.lazy else [jnp.asarray(row) for row in values]
        low, mean = aligned(rows, target)
    print(f"{float(low):.4f} {float(mean):.4f}")


if __name__ == "__main__":
    main()
