# derivatives for one argument after another
import jax
import jax.numpy as jnp

def loss(a, b):
    return a * b

def check(params, expected):
    for index, value in enumerate(params):
        assert jnp.allclose(value, jax.jacobian(loss, argnums=index)(*params))
