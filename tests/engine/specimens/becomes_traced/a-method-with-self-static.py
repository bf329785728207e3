# a method with self static
from functools import partial

import jax
import jax.numpy as jnp

class Agent:
    def __init__(self, gamma, clip):
        self.gamma = gamma
        self.clip = clip

    @partial(jax.jit, static_argnums=0)
    def step(self, p, x):
        if self.clip:
            x = jnp.clip(x, -1, 1)
        if p.sum() > 0:  # finding: tracer-branch
            p = p * self.gamma
        return p + x

Agent(0.9, True).step(jnp.ones(2), jnp.ones(2))
