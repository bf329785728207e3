# source: gbionics/jaxsim#344
# blind: fourth

import timeit
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def simulate(q, v, n):
    def body(carry, _):
        q, v = carry
        v = v - 1e-2 * jnp.sin(q)
        return (q + 1e-2 * v, v), None

    (q, v), _ = jax.lax.scan(body, (q, v), None, length=n)
    return q, v


def best_of(fn, repeat=5, number=10):
    return min(timeit.repeat(fn, repeat=repeat, number=number)) / number  # finding-also


def sweep(batch_sizes):
    rows = []
    for batch in batch_sizes:
        q = jnp.linspace(0.0, 1.0, batch)
        run = partial(simulate, q, jnp.zeros_like(q), n=1000)
        jax.block_until_ready(run())
        rows.append((batch, best_of(run)))  # finding
    return rows


if __name__ == "__main__":
    for batch, seconds in sweep([16, 256, 4096]):
        print(f"{batch:6d} {1e3 * seconds:.3f} ms")
