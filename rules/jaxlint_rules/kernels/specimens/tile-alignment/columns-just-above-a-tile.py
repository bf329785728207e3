# columns just above a tile

import jax.numpy as jnp

def forward(x):
    w = jnp.zeros((512, 130))
    v = jnp.ones((130, 256))
    return (jnp.ones((64, 512)) @ w) @ v  # finding

forward(1)
