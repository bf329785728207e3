# source: patrick-kidger/equinox#686
# blind: first

import jax
import jax.numpy as jnp
import optax


def make_update(learning_rate):
    tx = optax.adam(learning_rate)

    @jax.jit
    def update(params, opt_state, x):  # finding-also
        grads = jax.grad(lambda p: jnp.mean((x @ p) ** 2))(params)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state

    return tx, update


def train(params, data, epochs):
    opt_state = optax.adam(1e-3).init(params)
    for epoch in range(epochs):
        _, update = make_update(1e-3 * 0.9**epoch)  # finding
        for x in data:
            params, opt_state = update(params, opt_state, x)
    return params


if __name__ == "__main__":
    print(train(jnp.ones(3), [jnp.ones((4, 3))] * 2, 5))
