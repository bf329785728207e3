# time steps counted by the data, backwards, and in each other

import jax
import jax.numpy as jnp

def cell(w, h, x):
    return jnp.tanh(x @ w["in"] + h @ w["rec"])

@jax.jit
def encode(w, frames):
    h = jnp.zeros((frames.shape[0], 8))
    for t in range(frames.shape[1]):  # finding
        h = cell(w, h, frames[:, t])
    return h

@jax.jit
def returns(rewards, last):
    out = jnp.zeros_like(rewards)
    for t in reversed(range(64)):  # finding
        last = rewards[t] + 0.99 * last
        out = out.at[t].set(last)
    return out

@jax.jit
def distances(points):
    n = points.shape[0]
    table = jnp.zeros((n, n))
    for i in range(n):  # finding
        for j in range(n):
            table = table.at[i, j].set(jnp.linalg.norm(points[i] - points[j]))
    return table

@jax.jit
def advantages(rewards, values):
    out, last = jnp.zeros_like(rewards), 0.0
    for t in reversed(range(rewards.shape[0])):  # finding
        last = rewards[t] + 0.99 * values[t + 1] - values[t] + 0.9 * last
        out = out.at[t].set(last)
    return out

@jax.jit
def differences(rewards):
    total = 0.0
    for t in range(rewards.shape[0] - 1):
        total = total + (rewards[t + 1] - rewards[t]) ** 2
    return total

@jax.jit
def trajectory(x):
    states = [x]
    for _ in range(300):  # finding
        states.append(jnp.sin(states[-1]) * 0.9)
    return jnp.stack(states)

@jax.jit
def in_turn(kernel, f, g):
    for _ in range(100):  # finding
        f = 1.0 / (kernel @ g)
        g = 1.0 / (kernel.T @ f)
    return f, g

@jax.jit
def divergence(field):
    total = jnp.zeros(field.shape[1:])
    for axis in range(field.shape[0]):
        total = total + jnp.gradient(field[axis], axis=axis)
    return total
