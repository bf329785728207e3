# the state of one model with the gradients of another; each with its own, and one state that is updated twice
import jax
import jax.numpy as jnp
import optax

tx = optax.adam(1e-4)


def loss(params, other, x):
    return jnp.mean((x @ params - x @ other) ** 2)


@jax.jit
def crossed(g, d, g_state, d_state, x):
    d_grads = jax.grad(loss)(d, g, x)
    d_updates, d_new = tx.update(d_grads, d_state)
    g_grads = jax.grad(loss)(g, d, x)
    g_updates, g_new = tx.update(g_grads, d_state)  # finding
    return optax.apply_updates(g, g_updates), optax.apply_updates(d, d_updates), g_new, d_new


@jax.jit
def apart(g, d, g_state, d_state, x):
    d_grads = jax.grad(loss)(d, g, x)
    d_updates, d_new = tx.update(d_grads, d_state)
    g_grads = jax.grad(loss)(g, d, x)
    g_updates, g_new = tx.update(g_grads, g_state)
    return optax.apply_updates(g, g_updates), optax.apply_updates(d, d_updates), g_new, d_new


@jax.jit
def twice(g, d, state, x):
    first, _ = tx.update(jax.grad(loss)(g, d, x), state)
    second, state = tx.update(jax.grad(loss)(g, d, 2 * x), state)
    return optax.apply_updates(g, jax.tree.map(jnp.add, first, second)), state
