# the right order, gradients that were clipped or averaged, steps near one, and values that are unknown
import jax
import jax.numpy as jnp
import optax

tx = optax.adamw(1e-3)


def loss_fn(params, x, y):
    logits = x @ params["w"]
    labels = jax.nn.one_hot(y, 10)
    return optax.softmax_cross_entropy(logits, labels).mean()


@jax.jit
def step(params, opt_state, x, y):
    grads = jax.grad(loss_fn)(params, x, y)
    scaled = jax.tree.map(lambda g: g / 2, grads)
    updates, opt_state = tx.update(scaled, opt_state, params)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state


@jax.jit
def of_gradients(params, opt_state, x, y):
    grads = jax.grad(loss_fn)(params, x, y)
    smaller = jax.tree.map(lambda g: 0.9 * g, grads)
    updates, opt_state = tx.update(smaller, opt_state, grads)
    return updates, opt_state


def soft(target, params, online):
    target = optax.incremental_update(params, target, 0.005)
    mean = optax.incremental_update(target, online, 0.995)
    online = optax.incremental_update(online, params, 0.9)
    return target, mean, online


def unknown(optimizer, a, b, c):
    return optimizer.update(a, b, c)


def between(a, b):
    return optax.softmax_cross_entropy(jax.nn.one_hot(a, 4), jax.nn.one_hot(b, 4))
