# blind: tenth

import jax
import jax.numpy as jnp


def check_one_trace():
    shapes = []

    @jax.jit
    def f(x):
        shapes.append(x.shape)
        return jnp.sum(x)

    f(jnp.ones(3))
    f(jnp.zeros(3))
    assert len(shapes) == 1
    return shapes


print(check_one_trace())
