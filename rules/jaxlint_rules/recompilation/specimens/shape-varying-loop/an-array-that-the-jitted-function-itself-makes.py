# an array that the jitted function itself makes longer, a dict that gains keys

from typing import NamedTuple
import jax
import jax.numpy as jnp

@jax.jit
def decode(cache, token):
    keys = jnp.concatenate([cache["k"], token[None]])
    return token + keys.sum(), {"k": keys}

@jax.jit
def roll(window, token):
    return jnp.concatenate([window[1:], token[None]])

@jax.jit
def shift(window, token):
    return jnp.tanh(token), jnp.concatenate([window[1:], token[None]])

@jax.jit
def update(w, history):
    return w + sum(history.values())

class State(NamedTuple):
    bounds: jax.Array
    rows: jax.Array

@jax.jit
def iterate(x, state):
    rows = jnp.concatenate([state.bounds, x[None]])
    return x + rows.sum(), State(bounds=state.bounds, rows=rows)

def solve(x, state, n):
    for _ in range(n):
        x, state = iterate(x, state)
    return x

def generate(cache, token, n):
    for _ in range(n):
        token, cache = decode(cache, token)  # finding
    return token

def windows(window, token, n):
    for _ in range(n):
        window = roll(window, token)
        token, window = shift(window, token)
    return window

def fit(w, n):
    history, named = {}, {"loss": 0.0}
    for i in range(n):
        w = update(w, history)  # finding
        history[f"loss {i}"] = w
        named["loss"] = w
        w = update(w, named)
    return w
