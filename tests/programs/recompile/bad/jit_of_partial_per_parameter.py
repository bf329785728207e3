# source: jax-ml/jax#14183
# blind: first
# missed: not found yet

from functools import partial

import jax
import jax.numpy as jnp


def simulate(x0, rate, steps):
    return jax.lax.fori_loop(0, steps, lambda _, x: x + 0.01 * rate * jnp.sin(x), x0)


def sensitivity(x0, rates):
    results = {}
    for rate in rates:
        run = jax.jit(partial(simulate, rate=rate, steps=50))  # finding
        results[float(rate)] = run(x0)
    return results


if __name__ == "__main__":
    print(len(sensitivity(jnp.ones(4), [0.1 * k for k in range(20)])))
