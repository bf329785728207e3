# source: google/flax#2012

import jax
import jax.numpy as jnp
import optax

tx = optax.adam(1e-2)


@jax.jit
def step(params, opt_state, x):
    loss, grads = jax.value_and_grad(lambda p: jnp.sum((p["a"] * x - p["b"]) ** 2))(params)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def search(params, x, n_steps, patience=50):
    opt_state = tx.init(params)
    best, best_params, stale = float("inf"), params, 0
    for i in range(n_steps):
        params, opt_state, loss = step(params, opt_state, x)
        if loss < best:  # finding
            best, best_params, stale = loss, params, 0
        else:
            stale += 1
        if stale > patience:
            break
    return best_params, best


if __name__ == "__main__":
    print(search({"a": jnp.ones(4), "b": jnp.zeros(4)}, jnp.arange(4.0), 100)[1])
