# two optimizers in one loop, which one step mends, and a second loop

import jax
import jax.numpy as jnp
import optax

optimizer = optax.adam(1e-3)
gradient = jax.jit(jax.grad(lambda w, x: jnp.sum((w * x) ** 2)))


def fit(actor, critic, batches):
    of_actor, of_critic = optimizer.init(actor), optimizer.init(critic)
    for x in batches:
        updates, of_actor = optimizer.update(gradient(actor, x), of_actor)  # finding
        actor = optax.apply_updates(actor, updates)
        updates, of_critic = optimizer.update(gradient(critic, x), of_critic)
        critic = optax.apply_updates(critic, updates)
    for x in batches:
        updates, of_critic = optimizer.update(gradient(critic, x), of_critic)  # finding
        critic = optax.apply_updates(critic, updates)
    return actor, critic
