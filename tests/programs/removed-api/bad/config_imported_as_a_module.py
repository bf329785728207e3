# source: jax-ml/jax#1832
# blind: eighth

from functools import partial

import jax
import jax.numpy as jnp
from jax.config import config  # finding

config.update("jax_enable_x64", True)


@partial(jax.jit, static_argnums=1)
def legendre(x, degree):
    p0, p1 = jnp.ones_like(x), x
    for n in range(1, degree):
        p0, p1 = p1, ((2 * n + 1) * x * p1 - n * p0) / (n + 1)
    return p1


if __name__ == "__main__":
    print(legendre(jnp.linspace(-1, 1, 5), 4))
