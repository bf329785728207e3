# source: p-doom/jasmine#47
# blind: first

import time

import jax
import jax.numpy as jnp


@jax.jit
def step(w, x):
    return w - 0.01 * jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)


def main(batches):
    w = jnp.ones(64)
    begin = time.time()
    for x in batches:
        w = step(w, x)  # finding-also
    elapsed = time.time() - begin  # finding
    print(f"{sum(len(x) for x in batches) / elapsed:.0f} samples per second")


main([jnp.ones((128, 64))] * 50)
