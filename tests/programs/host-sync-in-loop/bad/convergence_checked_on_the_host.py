# source: elixir-nx/axon#658
# blind: eighth

import jax
import jax.numpy as jnp


@jax.jit
def bellman(v, rewards, transitions, gamma):
    return jnp.max(rewards + gamma * jnp.einsum("sat,t->sa", transitions, v), axis=1)


def value_iteration(rewards, transitions, gamma=0.95, tol=1e-4):
    v = jnp.zeros(rewards.shape[0])
    while True:
        new_v = bellman(v, rewards, transitions, gamma)
        if jnp.max(jnp.abs(new_v - v)) < tol:  # finding
            return new_v
        v = new_v


if __name__ == "__main__":
    t = jnp.ones((5, 2, 5)) / 5
    print(value_iteration(jnp.arange(10.0).reshape(5, 2), t))
