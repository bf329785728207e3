# blind: tenth

import jax
import jax.numpy as jnp
import optax

tx = optax.adam(1e-2)


@jax.jit
def step(params, opt_state, x, y):
    grads = jax.grad(lambda p: jnp.mean((x @ p - y) ** 2))(params)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state


def fit(x, y, steps):
    params = jnp.zeros(x.shape[1])
    opt_state = tx.init(params)
    for _ in range(steps):
        params, _ = step(params, opt_state, x, y)  # finding
    return params


print(fit(jnp.eye(3), jnp.ones(3), 10))
