# blind: tenth

import jax
import jax.numpy as jnp


def smooth(table):
    n = table.shape[0]

    def body(i, out):
        return jax.lax.cond(
            i < n - 1,
            lambda: out.at[i + 1].set(0.5 * (out[i] + out[i + 1])),
            lambda: out,
        )

    return jax.lax.fori_loop(0, n, body, table)


print(smooth(jnp.arange(12.0).reshape(6, 2)))
