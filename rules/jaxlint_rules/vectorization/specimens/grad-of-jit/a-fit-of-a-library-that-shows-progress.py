# a fit that nobody is seen to call, with and without a bar

import jax
import jax.numpy as jnp
from tqdm import trange

def loss(w, x, y):
    return jnp.mean((jnp.tanh(x @ w) - y) ** 2)

def fit(w, x, y, steps):
    for _ in trange(steps):
        w = w - 0.1 * jax.grad(loss)(w, x, y)  # finding
    return w

def refine(w, x, y, steps):
    for _ in range(steps):
        w = w - 0.1 * jax.grad(loss)(w, x, y)  # a caller may compile all of it
    return w
