"""How often does the timing of `jaxlint verify` claim that a function is faster or slower than itself?

    python benchmarks/measure_noise.py [--seconds 2] [--repeats 15]

For each size, two compiled copies of one function are timed against each other. Prints the 95th percentile of the
error of the ratio, and the share of runs in which a claim would have been made, which should be near 0.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxlint_runtime.proof.paired_timing import Subject, compare
from jaxlint_runtime.timing_noise import claimable

SIZES = ((64, 8), (384, 6), (768, 12))  # width and number of products


def subject(width: int, products: int) -> Subject:
    """A compiled chain of matrix products."""

    def chain(x: Any) -> Any:
        for _ in range(products):
            x = jnp.tanh(x @ x)
        return x

    x = 0.01 * jnp.ones((width, width))
    compiled: Callable[..., Any] = jax.jit(chain).lower(x).compile()
    return Subject(lambda given: compiled(given), lambda: x)


def main() -> None:
    """Print one line per size."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=2.0, help="for one comparison (2)")
    parser.add_argument("--repeats", type=int, default=15, help="comparisons for each size (15)")
    options = parser.parse_args()
    print(f"{'ms a call':>10} {'95% of |ratio - 1|':>20} {'least claim':>12} {'false claims':>13}")
    for width, products in SIZES:
        timings = [
            compare(subject(width, products), subject(width, products), options.seconds, seed)
            for seed in range(options.repeats)
        ]
        done = [timing for timing in timings if timing is not None]
        if not done:
            print(f"{'':>10} {options.seconds:g} s are too few to time {products} products of width {width}")
            continue
        milliseconds = float(np.median([timing.before.median for timing in done]))
        error = float(np.percentile([abs(timing.speedup.median - 1) for timing in done], 95))
        claims = sum(timing.faster or timing.slower for timing in done)
        print(
            f"{milliseconds:>10.2f} {error:>19.1%} {claimable(milliseconds):>12.2f} {claims:>9} of {len(done)}"
        )


if __name__ == "__main__":
    main()
