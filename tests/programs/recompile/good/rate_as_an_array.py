# blind: tenth

import jax
import jax.numpy as jnp
import optax

tx = optax.inject_hyperparams(optax.sgd)(learning_rate=0.1)


@jax.jit
def step(w, state, x):
    g = jax.grad(lambda w: jnp.mean((x @ w - 1.0) ** 2))(w)
    updates, state = tx.update(g, state)
    return optax.apply_updates(w, updates), state


w = jnp.zeros(3)
state = tx.init(w)
for i in range(20):
    state.hyperparams["learning_rate"] = jnp.asarray(0.1 * 0.9**i)
    w, state = step(w, state, jnp.eye(3))
print(w)
