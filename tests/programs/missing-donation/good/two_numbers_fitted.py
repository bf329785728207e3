# blind: tenth

import jax
import jax.numpy as jnp
import optax

tx = optax.adam(0.1)


@jax.jit
def step(theta, state, t, y):
    def loss(theta):
        amplitude, decay = theta
        return jnp.mean((amplitude * jnp.exp(-decay * t) - y) ** 2)

    updates, state = tx.update(jax.grad(loss)(theta), state)
    return optax.apply_updates(theta, updates), state


t = jnp.linspace(0.0, 1.0, 30)
theta = jnp.array([1.0, 0.5])
state = tx.init(theta)
for _ in range(200):
    theta, state = step(theta, state, t, 2.0 * jnp.exp(-t))
print(theta)
