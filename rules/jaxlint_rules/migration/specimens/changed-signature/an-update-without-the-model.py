# updates of an optimizer of nnx that is not given the model, and of optax and a metric

import jax
import jax.numpy as jnp
from flax import nnx


@nnx.jit
def step(model, optimizer, x):
    loss, grads = nnx.value_and_grad(lambda m: jnp.mean(m(x) ** 2))(model)
    optimizer.update(grads)  # finding
    return loss


@nnx.jit
def right(model, optimizer, x):
    grads = nnx.grad(lambda m: jnp.mean(m(x) ** 2))(model)
    optimizer.update(model, grads)


def collect(norms, params, x):
    grads = jax.grad(lambda p: jnp.mean((x @ p) ** 2))(params)
    norms.update(grads)
