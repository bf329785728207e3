# blind: tenth

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnums=(1,))
def forward(x, sizes):
    for size in sizes:
        x = jnp.tanh(x @ jnp.ones((x.shape[-1], size)))
    return x


print(forward(jnp.ones((2, 4)), [8, 8, 1]))  # finding
