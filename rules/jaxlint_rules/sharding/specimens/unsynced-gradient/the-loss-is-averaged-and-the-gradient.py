# the loss is averaged and the gradient is not, or nothing is

from functools import partial
import jax
import jax.numpy as jnp
import optax

tx = optax.sgd(0.1)

def loss(params, batch):
    return jnp.mean((batch @ params) ** 2)

@partial(jax.pmap, axis_name="batch")
def train_step(params, state, batch):
    value, grads = jax.value_and_grad(loss)(params, batch)
    updates, state = tx.update(grads, state)  # finding
    return optax.apply_updates(params, updates), state, jax.lax.pmean(value, "batch")

def plain(params, batch):
    grad_fn = jax.grad(loss)
    g = grad_fn(params, batch)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, g)  # finding

step = jax.pmap(plain, axis_name="i")

@partial(jax.pmap, axis_name="i")
def by_hand(params, batch):
    value, grads = jax.value_and_grad(loss)(params, batch)
    return params - 0.1 * grads, jax.lax.pmean(value, "i")  # finding

@partial(jax.pmap, axis_name="i")
def averaged(params, batch):
    grads = jax.lax.pmean(jax.grad(loss)(params, batch), "i")
    return params - 0.1 * grads

@partial(jax.pmap, axis_name="i")
def gap(params, batch):
    return jnp.abs(batch - jax.grad(loss)(params, batch))
