# source: jax-ml/jax#14183

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnums=0)
def bisect(f, lo, hi):
    def body(_, ab):
        a, b = ab
        m = 0.5 * (a + b)
        left = f(a) * f(m) <= 0
        return jnp.where(left, a, m), jnp.where(left, m, b)

    return jax.lax.fori_loop(0, 40, body, (lo, hi))[0]


def quantiles(levels, scale):
    out = []
    for q in levels:
        out.append(bisect(lambda x: jax.scipy.stats.norm.cdf(x / scale) - q, -9.0, 9.0))  # finding
    return jnp.stack(out)


if __name__ == "__main__":
    print(quantiles([0.1, 0.25, 0.5, 0.75, 0.9, 0.95], 2.0))
