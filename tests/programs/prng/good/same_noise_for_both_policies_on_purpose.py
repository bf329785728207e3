# source: elixir-nx/axon#423
# blind: eighth

import jax
import jax.numpy as jnp


def episode_return(theta, key, steps=30):
    def step(state, k):
        state = 0.9 * state + theta * jnp.tanh(state) + 0.1 * jax.random.normal(k)
        return state, -(state**2)

    return jax.lax.scan(step, 1.0, jax.random.split(key, steps))[1].sum()


@jax.jit
def evolve(theta, key, sigma=0.1):
    direction_key, noise_key = jax.random.split(key)
    eps = jax.random.normal(direction_key)
    noise_keys = jax.random.split(noise_key, 8)
    plus = jax.vmap(episode_return, in_axes=(None, 0))(theta + sigma * eps, noise_keys)
    minus = jax.vmap(episode_return, in_axes=(None, 0))(theta - sigma * eps, noise_keys)
    return theta + 0.01 * eps * (plus - minus).mean() / (2 * sigma)


if __name__ == "__main__":
    theta = 0.0
    for k in jax.random.split(jax.random.key(0), 3):
        theta = evolve(theta, k)  # finding-other
    print(theta)
