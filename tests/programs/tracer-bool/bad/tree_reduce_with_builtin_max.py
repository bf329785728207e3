# source: pmelchior/scarlet2#47
# blind: eighteenth

import functools

import jax
import jax.numpy as jnp
import optax


def residual(params, x, y):
    return params["amp"] * jnp.exp(-x / params["tau"]) + params["bg"] - y


def loss_fn(params, x, y):
    return jnp.mean(residual(params, x, y) ** 2)


def relative_change(new, old):
    change = jax.tree.map(lambda a, b: jnp.max(jnp.abs(a - b) / (jnp.abs(b) + 1e-8)), new, old)
    return jax.tree_util.tree_reduce(lambda a, b: max(a, b), change)  # finding


def make_step(tx):
    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def step(params, opt_state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        updates, opt_state = tx.update(grads, opt_state, params)
        new_params = optax.apply_updates(params, updates)
        return new_params, opt_state, loss, relative_change(new_params, params)

    return step


def fit(x, y, steps=5):
    params = {"amp": jnp.asarray(1.0), "tau": jnp.asarray(0.8), "bg": jnp.asarray(0.1)}
    tx = optax.adam(1e-2)
    opt_state = tx.init(params)
    step = make_step(tx)
    for _ in range(steps):
        params, opt_state, loss, change = step(params, opt_state, x, y)
    return params, loss, change


if __name__ == "__main__":
    grid = jnp.linspace(0.0, 2.0, 32)
    print(fit(grid, 2.0 * jnp.exp(-grid)))
