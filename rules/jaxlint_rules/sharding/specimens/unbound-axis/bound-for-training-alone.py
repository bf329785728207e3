# bound for training alone

import functools
import jax
import jax.numpy as jnp

@functools.partial(jax.pmap, axis_name="batch")
def train_loss(params, x):
    return mean_loss(params, x)

@jax.jit
def eval_loss(params, x):
    return jax.lax.pmean(jnp.mean((x @ params) ** 2), "batch")  # finding

@jax.jit
def mean_loss(params, x):
    return jax.lax.pmean(jnp.mean((x @ params) ** 2), "batch")

@jax.jit
def exported(params, x):
    return jax.lax.pmean(jnp.mean((x @ params) ** 2), "batch")

def main():
    params, x = jnp.ones(3), jnp.ones((4, 3))
    n = jax.local_device_count()
    print(train_loss(jnp.ones((n, 3)), jnp.ones((n, 4, 3))), eval_loss(params, x))

main()
