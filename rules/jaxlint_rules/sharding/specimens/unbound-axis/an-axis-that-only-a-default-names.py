# an axis that only a default names

import jax
import jax.numpy as jnp

def normalise(x, axis_name="batch"):
    return x - jax.lax.pmean(x.mean(0), axis_name)  # finding

@jax.jit
def forward(params, x):
    return normalise(x @ params)

def centred(x, axis_name="rows"):
    return x - jax.lax.pmean(x, axis_name)

mapped = jax.jit(jax.vmap(centred, axis_name="rows"))
print(forward(jnp.eye(3), jnp.ones((4, 3))), mapped(jnp.ones((4, 3))))
