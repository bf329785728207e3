# source: jax-ml/jax#4143

import jax
import jax.numpy as jnp


@jax.jit
def act(params, obs):
    logits = jnp.tanh(obs @ params["w"]) @ params["v"]
    return jnp.argmax(logits)


@jax.jit
def env_step(state, action):
    state = state + jnp.where(action == 0, -0.1, 0.1)
    return state, -jnp.sum(state**2)


batched_act = jax.vmap(act, in_axes=(None, 0))  # finding
batched_env = jax.vmap(env_step)  # finding


def collect(params, states, n_steps):
    rewards = []
    for _ in range(n_steps):
        actions = batched_act(params, states)
        states, reward = batched_env(states, actions)
        rewards.append(reward)
    return jnp.stack(rewards)


if __name__ == "__main__":
    params = {"w": jnp.ones((3, 4)), "v": jnp.ones((4, 2))}
    print(collect(params, jnp.ones((6, 3)), 4).shape)
