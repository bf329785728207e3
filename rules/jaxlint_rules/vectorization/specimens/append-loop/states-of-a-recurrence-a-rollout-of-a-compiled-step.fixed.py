# states of a recurrence, a rollout of a compiled step

import jax
import jax.numpy as jnp

@jax.jit
def run(w, h, xs):
    def body_fun(h, row):
        h = jnp.tanh(h @ w + row)
        return h, h

    h, states = jax.lax.scan(body_fun, h, xs)  # finding
    return states

@jax.jit
def step(state, key):
    state = state + jax.random.normal(key, state.shape)
    return state, jnp.sum(state)

def rollout(state, key):
    def body_fun(carry, _):
        key, state = carry
        key, sub = jax.random.split(key)
        state, reward = step(state, sub)
        return (key, state), (state, reward)

    (key, state), (states, rewards) = jax.lax.scan(
        body_fun,
        (key, state),
        None,
        length=100,
    )  # finding
    return states, rewards

rollout(jnp.zeros(3), jax.random.key(0))
