# a mapped step that nothing compiles

import jax
import jax.numpy as jnp

def env_step(state, action):
    pos, vel = state
    vel = jnp.clip(vel + 0.001 * (action - 1) - 0.0025 * jnp.cos(3 * pos), -0.07, 0.07)
    return (pos + vel, vel), jnp.where(pos > 0.5, 1.0, -1.0)

def rollout(key, n):
    state = (jnp.full(n, -0.5), jnp.zeros(n))
    step, total = jax.vmap(env_step), 0.0
    for k in jax.random.split(key, 200):
        state, reward = step(state, jax.random.randint(k, (n,), 0, 3))  # finding
        total = total + reward
    return total

def unrolled(state, actions):
    for action in actions:
        state, _ = jax.vmap(env_step)(state, action)
    return state

compiled = jax.jit(unrolled)

def evaluate(points, w):
    return [jax.vmap(env_step)((w, w), point) for point in points]

def main():
    ones = jnp.ones(4)
    print(rollout(jax.random.key(0), 64), compiled((ones, ones), jnp.ones((9, 4))), evaluate([ones], ones))

main()
