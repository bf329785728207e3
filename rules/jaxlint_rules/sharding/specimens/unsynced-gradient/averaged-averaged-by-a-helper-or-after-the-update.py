# averaged, averaged by a helper or after the update, inside of the loss; models of their own

from functools import partial
import jax
import jax.numpy as jnp
import optax

tx = optax.sgd(0.1)

def loss(params, batch):
    return jnp.mean((batch @ params) ** 2)

def whole(params, batch):
    return jax.lax.pmean(loss(params, batch), "batch")

def mean_over_devices(tree):
    return jax.lax.pmean(tree, axis_name="batch")

@partial(jax.pmap, axis_name="batch")
def averaged(params, state, batch):
    value, grads = jax.value_and_grad(loss)(params, batch)
    grads = jax.lax.pmean(grads, "batch")
    updates, state = tx.update(grads, state)
    return optax.apply_updates(params, updates), state

@partial(jax.pmap, axis_name="batch")
def helped(params, state, batch):
    grads = jax.grad(loss)(params, batch)
    updates, state = tx.update(mean_over_devices(grads), state)
    return optax.apply_updates(params, updates), state

@partial(jax.pmap, axis_name="batch")
def afterwards(params, batch):
    params = jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params, batch))
    return jax.lax.pmean(params, "batch")

@partial(jax.pmap, axis_name="batch")
def inside(params, batch):
    grads = jax.grad(whole)(params, batch)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

@jax.pmap
def ensemble(params, batch):
    grads = jax.grad(loss)(params, batch)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
