# a step that hands the old state back, too

import jax

@jax.jit
def env_step(env_state, action):
    return env_state + action, env_state

@jax.jit  # finding
def step(env_state, action):
    return env_state + action, action

def run(env_state, other, action):
    seen = []
    for _ in range(100):
        env_state, old = env_step(env_state, action)
        other, _ = step(other, action)
        seen.append(old)
    return seen, other
