# source: araffin/sbx#14
# blind: first

from functools import partial

import jax
import jax.numpy as jnp


def update_critic(params, key, obs):
    noise = jax.random.normal(key, obs.shape)
    grads = jax.grad(lambda p: jnp.mean(((obs + noise) @ p) ** 2))(params)
    return params - 1e-3 * grads


@partial(jax.jit, static_argnames=("gradient_steps",), donate_argnums=0)
def train(params, key, obs, gradient_steps):
    for _ in range(gradient_steps):  # finding
        key, sub = jax.random.split(key)
        params = update_critic(params, sub, obs)
    return params, key


if __name__ == "__main__":
    params, _ = train(jnp.ones(6), jax.random.key(0), jnp.ones((32, 6)), gradient_steps=200)
    print(params)
