# source: jax-ml/jax#1579
# blind: first

import jax
import jax.numpy as jnp
from jax import lax


def back_substitute(u, b):
    n = b.shape[0]

    def body(k, x):
        i = n - 1 - k
        known = u[i, i + 1 :] @ x[i + 1 :]  # finding
        return x.at[i].set((b[i] - known) / u[i, i])

    return lax.fori_loop(0, n, body, jnp.zeros_like(b))


if __name__ == "__main__":
    u = jnp.triu(jnp.ones((4, 4))) + jnp.eye(4)
    print(back_substitute(u, jnp.arange(4.0)))
