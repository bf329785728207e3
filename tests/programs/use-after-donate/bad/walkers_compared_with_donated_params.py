# source: jeffminlin/vmcnet#18
# blind: third

import functools

import jax
import jax.numpy as jnp
import optax


def build_update(energy, tx):
    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def update(params, opt_state, walkers):
        e, grads = jax.value_and_grad(energy)(params, walkers)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, e

    return update


def energy(params, walkers):
    return jnp.mean(params["a"] * walkers**2 + params["b"] / (1.0 + walkers**2))


def vmc_loop(params, walkers, epochs=5, patience=1e-3):
    tx = optax.sgd(0.1)
    opt_state = tx.init(params)
    update = build_update(energy, tx)
    for _ in range(epochs):
        old_params = params
        params, opt_state, e = update(params, opt_state, walkers)
        drift = optax.tree.norm(jax.tree.map(jnp.subtract, params, old_params))  # finding
        if drift < patience:
            break
    return params, e


if __name__ == "__main__":
    print(vmc_loop({"a": jnp.float32(1.0), "b": jnp.float32(2.0)}, jnp.linspace(-1, 1, 8)))
