# loops that draw, and short ones over settings

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np

@jax.jit
def solve(a):
    return jnp.linalg.norm(a)

def study():
    results = {}
    for n in [10, 20, 40]:
        results[n] = float(solve(jnp.ones((n, n))))
    return results

@jax.jit
def act(w, observation):
    return w @ observation

def play(env, w, observation):
    while observation is not None:
        action = act(w, observation)
        action = np.array(action)
        observation = env.step(action)
