# settings and arrays in one dict
from functools import partial

import jax
import jax.numpy as jnp

ARRAYS = ("positions", "triangles")
SETTINGS = ("depth", "degree")

def joined(settings, arrays):
    whole = dict(zip(SETTINGS, settings[:-1]))
    whole.update({name: arrays[name] for name in ARRAYS})
    whole["tables"] = dict(arrays["tables"], order=settings[-1])
    return whole

@partial(jax.jit, static_argnames="degree")
def raised(x, degree):
    return x**degree

def evaluate(whole, x):
    return raised(x, whole["degree"]) + jnp.zeros(whole["depth"]).sum() + x[: whole["tables"]["order"]]

def geometry(arrays, x):
    return {name: arrays[name] * x for name in arrays}

@partial(jax.jit, static_argnames="settings")
def forward(arrays, x, settings):
    whole = joined(settings, arrays)
    return evaluate({**settings.defaults, **geometry(arrays, x), **whole}, x)

@partial(jax.jit, static_argnames="settings")
def other(arrays, x, settings):
    return evaluate({**settings, **geometry(arrays, x)}, x)
