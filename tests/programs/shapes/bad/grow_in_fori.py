import jax.numpy as jnp
from jax import lax


def fibonacci(n):
    def body(i, seq):
        return jnp.append(seq, seq[-1] + seq[-2])

    return lax.fori_loop(0, n, body, jnp.array([0, 1]))  # finding


print(fibonacci(10))
