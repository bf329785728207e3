# blind: tenth

import jax
import jax.numpy as jnp
import optax

tx = optax.adam(1e-2)


def fit(params, x, y, steps):
    state = tx.init(params)

    @jax.jit
    def step(params, state):
        grads = jax.grad(lambda p: jnp.mean((x @ p - y) ** 2))(params)
        updates, state = tx.update(grads, state, params)
        return optax.apply_updates(params, updates), state

    for _ in range(steps):
        _, state = step(params, state)  # finding
    return params


print(fit(jnp.zeros(3), jnp.eye(3), jnp.ones(3), 10))
