# rows that are kept apart on purpose

import jax.numpy as jnp


def sequential_eval(forward, thetas):
    return jnp.stack([forward(thetas[j]) for j in range(thetas.shape[0])])


def each(forward, thetas):
    """Runs one member at a time, since all of them do not fit."""
    return jnp.stack([forward(theta) for theta in thetas])


def both(forward):
    thetas = jnp.ones((20, 3))
    return jnp.stack([forward(theta) for theta in thetas])  # finding


print(sequential_eval(jnp.sum, jnp.ones((20, 3))), each(jnp.sum, jnp.ones((20, 3))), both(jnp.sum))
