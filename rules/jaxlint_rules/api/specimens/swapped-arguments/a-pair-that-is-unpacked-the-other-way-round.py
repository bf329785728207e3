# the pair that `update` of an optimizer returns, in both orders
import jax
import jax.numpy as jnp
import optax

tx = optax.adam(1e-3)


def loss(params, x):
    return jnp.mean((x @ params) ** 2)


@jax.jit
def wrong(params, opt_state, x):
    grads = jax.grad(loss)(params, x)
    opt_state, updates = tx.update(grads, opt_state, params)  # finding
    return optax.apply_updates(params, updates), opt_state


@jax.jit
def right(params, opt_state, x):
    grads = jax.grad(loss)(params, x)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state


@jax.jit
def renamed(params, old, x):
    grads = jax.grad(loss)(params, x)
    grads, new = tx.update(grads, old, params)
    return optax.apply_updates(params, grads), new
