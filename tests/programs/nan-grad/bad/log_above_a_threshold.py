# blind: tenth

import jax
import jax.numpy as jnp
import optax


def utility(consumption, subsistence):
    fed = consumption > subsistence
    return jnp.where(fed, jnp.log(consumption - subsistence), -1e3)  # finding


def objective(theta, income):
    share = jax.nn.sigmoid(theta)
    return -jnp.mean(utility(share * income, 1.0))


tx = optax.sgd(0.1)
theta = jnp.array(0.0)
income = jnp.array([1.0, 2.0, 4.0])
g = jax.jit(jax.grad(objective))(theta, income)
updates, _ = tx.update(g, tx.init(theta))
print(optax.apply_updates(theta, updates))
