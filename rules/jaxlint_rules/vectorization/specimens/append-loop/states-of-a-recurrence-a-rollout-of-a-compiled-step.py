# states of a recurrence, a rollout of a compiled step

import jax
import jax.numpy as jnp

@jax.jit
def run(w, h, xs):
    states = []
    for t in range(xs.shape[0]):  # finding
        h = jnp.tanh(h @ w + xs[t])
        states.append(h)
    return jnp.stack(states)

@jax.jit
def step(state, key):
    state = state + jax.random.normal(key, state.shape)
    return state, jnp.sum(state)

def rollout(state, key):
    states, rewards = [], []
    for t in range(100):  # finding
        key, sub = jax.random.split(key)
        state, reward = step(state, sub)
        states.append(state)
        rewards.append(reward)
    return jnp.stack(states), jnp.array(rewards)

rollout(jnp.zeros(3), jax.random.key(0))
