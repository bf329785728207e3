# a function handed to a helper that differentiates it under jit
import jax
import jax.numpy as jnp

def fit(loss_fn, p, x):
    return jax.value_and_grad(loss_fn)(p, x)

def my_loss(p, x):
    if p > 0:  # finding: tracer-branch
        return p * x
    return -p * x

@jax.jit
def step(p, x):
    return fit(my_loss, p, x)

step(1.0, 2.0)
