# parameters that exist, and signatures that are open

import functools
from functools import partial
import jax

@partial(jax.jit, static_argnums=-1, static_argnames="mode")
def scale(x, factor, mode="a"):
    return x

@partial(jax.jit, static_argnames="train")
def forward(x, **options):
    return x

@partial(jax.jit, static_argnums=4)
def many(*arrays):
    return arrays

def logged(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)
    return inner

@partial(jax.jit, static_argnames="depth")
@logged
def refine(x, depth):
    return x

class Model:
    def __init__(self):
        self.run = jax.jit(self._run, static_argnums=1, donate_argnums=0)

    def _run(self, x, steps):
        return x * steps

    @partial(jax.jit, static_argnums=(0, 2))
    def call(self, x, train):
        return x

fixed = jax.jit(partial(scale, mode="b"), static_argnames="mode")
gradient = jax.jit(jax.grad(scale), static_argnums=(2,), donate_argnums=(0,))

def build(function, names):
    return jax.jit(function, static_argnames="anything"), jax.jit(scale, static_argnames=names)
