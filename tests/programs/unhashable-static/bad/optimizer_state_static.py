# source: google-research/computation-thru-dynamics#15

from functools import partial

import jax
import jax.numpy as jnp
import optax

optimizer = optax.adam(1e-2)


def fixed_point_loss(points, weights):
    return jnp.mean((jnp.tanh(points @ weights) - points) ** 2)


@partial(jax.jit, static_argnums=(0, 3))
def optimise_points(num_steps, points, weights, opt_state):
    for _ in range(num_steps):
        grads = jax.grad(fixed_point_loss)(points, weights)
        updates, opt_state = optimizer.update(grads, opt_state)
        points = optax.apply_updates(points, updates)
    return points, opt_state


def find(points, weights, batches=3):
    state = optimizer.init(points)
    for _ in range(batches):
        points, state = optimise_points(5, points, weights, state)  # finding
    return points


print(find(jnp.ones((4, 3)), 0.5 * jnp.eye(3)).shape)
