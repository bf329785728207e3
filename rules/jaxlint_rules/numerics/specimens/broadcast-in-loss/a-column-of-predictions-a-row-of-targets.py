# a column of predictions, a row of targets

import jax
import jax.numpy as jnp
import optax

def loss_fn(w, x, y):
    return jnp.mean((x @ w - y) ** 2)  # finding

def td_loss(q, actions, rewards):
    chosen = jnp.take_along_axis(q, actions[:, None], axis=1)
    return optax.huber_loss(chosen, rewards).mean()  # finding

x = jax.random.normal(jax.random.key(0), (256, 13))
loss_fn(jnp.zeros((13, 1)), x, jnp.ones((256,)))
td_loss(jnp.ones((64, 2)), jnp.zeros((64,), jnp.int32), jnp.ones((64,)))
