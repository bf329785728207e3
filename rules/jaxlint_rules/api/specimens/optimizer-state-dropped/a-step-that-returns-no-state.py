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


@jax.jit
def two(params, other, opt_state, other_state, x):
    updates, opt_state = tx.update(jax.grad(loss)(params, x), opt_state, params)
    params = optax.apply_updates(params, updates)
    updates, other_state = tx.update(jax.grad(loss)(other, x), other_state, other)  # finding
    return params, optax.apply_updates(other, updates), opt_state


@jax.jit
def several_steps(params, opt_state, x):
    for _ in range(3):
        updates, opt_state = tx.update(jax.grad(loss)(params, x), opt_state, params)  # the next pass reads it
        params = optax.apply_updates(params, updates)
    return params


@jax.jit
def afresh(params, x):
    opt_state = tx.init(params)
    updates, opt_state = tx.update(jax.grad(loss)(params, x), opt_state, params)  # a state of its own
    return optax.apply_updates(params, updates)
