# parts that each iteration gathers anew

import jax
import jax.numpy as jnp

@jax.jit
def together(parts, rewards):
    return jnp.concatenate(parts), rewards

def train(queue, steps):
    for _ in range(steps):
        parts = []
        for _ in range(4):
            parts.append(queue.get())
        parts, rewards = together(parts, queue.rewards())
    return parts

@jax.jit
def longer(parts, x):
    return jnp.concatenate([parts, x]), x

def gather(parts, x, steps):
    for _ in range(steps):
        parts, x = longer(parts, x)  # finding
    return parts
