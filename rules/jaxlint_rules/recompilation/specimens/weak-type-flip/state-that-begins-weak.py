# state that begins weak

import jax
import jax.numpy as jnp
from typing import NamedTuple

@jax.jit
def step(params, running, x):
    loss = jnp.mean((x @ params) ** 2)
    return params - 0.1 * jnp.mean(x, axis=0), 0.99 * running + 0.01 * loss

def train(batches, params):
    running = 0.0
    for x in batches:
        params, running = step(params, running, x)  # finding
    return params, running

class State(NamedTuple):
    count: int
    error: jax.Array
    best: jax.Array

@jax.jit
def update(w, state):
    error = jnp.linalg.norm(w - 1.0)
    return w * 0.9, State(state.count + 1, error, jnp.minimum(state.best, error))

def solve(w):
    state = State(0, jnp.asarray(jnp.inf), jnp.full((), jnp.inf))
    while state.error > 1e-3:
        w, state = update(w, state)  # finding
    return w

@jax.jit
def simulate(state, action):
    x = state["x"] + 0.1 * action
    return {"x": x, "return": state["return"] + jnp.sum(x, axis=-1), "time": state["time"] + 0.1}

def rollout(policy, key):
    state = {"x": jax.random.normal(key, (8, 2)), "return": jnp.full((8,), 0.0), "time": jnp.full((8,), 0.0)}
    for _ in range(100):
        state = simulate(state, policy(state["x"]))  # finding
    return state

@jax.jit
def count(hits, seen, logits, labels):
    return hits + jnp.sum(jnp.argmax(logits, -1) == labels), seen + labels.shape[0]

def evaluate(model, batches):
    hits, seen = 0, 0
    for images, labels in batches:
        hits, seen = count(hits, seen, model(images), labels)  # finding
    return hits / seen

@jax.jit
def halve(x):
    return x / 2

def halved(n):
    x = jnp.ones(4, dtype=jnp.int32)
    for _ in range(n):
        x = halve(x)  # finding
    return x
