# a step that gets the state and returns none
import jax
import jax.numpy as jnp
import optax

tx = optax.adam(1e-3)
plain = optax.sgd(1e-2)


def loss(params, x):
    return jnp.sum((x @ params) ** 2)


@jax.jit
def step(params, opt_state, x):
    grads = jax.grad(loss)(params, x)
    updates, _ = tx.update(grads, opt_state, params)  # finding
    return optax.apply_updates(params, updates)


@jax.jit
def stateless(params, opt_state, x):
    updates, _ = plain.update(jax.grad(loss)(params, x), opt_state, params)
    return optax.apply_updates(params, updates)


@jax.jit
def one_step(params, x):
    opt_state = tx.init(params)
    updates, _ = tx.update(jax.grad(loss)(params, x), opt_state, params)
    return optax.apply_updates(params, updates)


@jax.jit
def direction(params, opt_state, x):
    updates, _ = tx.update(jax.grad(loss)(params, x), opt_state, params)
    return updates  # a diagnostic: nothing is applied


@jax.jit
def full(params, opt_state, x):
    updates, opt_state = tx.update(jax.grad(loss)(params, x), opt_state, params)
    return optax.apply_updates(params, updates), opt_state
