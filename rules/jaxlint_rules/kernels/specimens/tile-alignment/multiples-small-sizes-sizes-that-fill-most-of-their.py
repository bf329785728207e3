# multiples, small sizes, sizes that fill most of their tiles

import jax.numpy as jnp

def forward(x):
    a = jnp.ones((64, 512)) @ jnp.zeros((512, 256))
    b = jnp.ones((64, 512)) @ jnp.zeros((512, 10))
    c = jnp.ones((64, 512)) @ jnp.zeros((512, 1000))
    return a, b, c, x @ x

forward(jnp.ones((3, 3)))
