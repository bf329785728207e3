# source: gchq/coreax#470
# blind: fifth

import functools
import time

import jax
import jax.numpy as jnp


def timed(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        start = time.perf_counter()
        result = fn(*args, **kwargs)
        elapsed = time.perf_counter() - start  # finding
        print(f"{fn.__name__}: {elapsed * 1e3:.3f} ms")
        return result

    return wrapper


@timed  # finding-also
@jax.jit
def solve(a, b):
    return jnp.linalg.solve(a, b)


def main():
    a = jax.random.normal(jax.random.key(0), (256, 256)) + 16.0 * jnp.eye(256)
    b = jnp.ones(256)
    solve(a, b).block_until_ready()
    for _ in range(5):
        x = solve(a, b)
    print(jnp.abs(a @ x - b).max())


if __name__ == "__main__":
    main()
