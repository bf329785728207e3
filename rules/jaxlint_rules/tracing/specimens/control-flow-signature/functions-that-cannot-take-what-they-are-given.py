# functions that cannot take what they are given

from functools import partial
import jax.numpy as jnp
from jax import lax

def step(carry):
    return carry, None

def advance(state):
    return state + 1

def choose(x, y):
    return x

def scaled(factor, carry, x):
    return carry * factor, x

def run(xs, ok, i, n):
    a = lax.scan(step, 0.0, xs)  # finding
    b = lax.fori_loop(0, 3, advance, 0)  # finding
    c = lax.while_loop(lambda i, x: i < 3, lambda s: s, (0, 1.0))  # finding
    d = lax.cond(ok, choose, lambda x: x, xs)  # finding
    e = lax.switch(i, [choose, advance], xs, xs)  # finding
    f = lax.map(choose, (xs, xs))  # finding
    g = lax.scan(scaled, 0.0, xs)  # finding
    h = lax.scan(partial(scaled, 2.0), 0.0, xs)
    return a, b, c, d, e, f, g, h
