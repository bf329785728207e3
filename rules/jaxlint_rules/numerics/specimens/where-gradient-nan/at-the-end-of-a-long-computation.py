# at the end of a long computation

import jax
import jax.numpy as jnp

def entropy(p):
    return -jnp.sum(jnp.where(p > 0, p * jnp.log(p), 0.0), axis=-1)  # finding

def information(scale, values, centers):
    distance = jnp.abs((scale * values)[:, None] - centers[None, :])
    counts = jax.nn.relu(1.0 - distance / 0.2).sum(axis=0)
    return entropy(counts / counts.sum())

@jax.jit
def ascend(scale, values, centers):
    value, grad = jax.value_and_grad(information)(scale, values, centers)
    return scale + 0.05 * grad, value
