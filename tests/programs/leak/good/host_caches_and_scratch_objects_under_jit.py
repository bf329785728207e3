# blind: every clause

import functools

import jax
import jax.numpy as jnp

_cache = {}


@functools.lru_cache(maxsize=None)
def table(n):
    import numpy as np
    return np.arange(n)


def basis(n):
    import numpy as np
    if n not in _cache:
        _cache[n] = np.arange(n)
    return _cache[n]


class Tracer:
    def __init__(self):
        self.shapes = []

    def __call__(self, x):
        self.shapes.append(x.shape)
        return x


class Scratch:
    def __init__(self, x):
        self.x = x

    def double(self):
        self.x = self.x * 2
        return self


spy = Tracer()


@jax.jit
def embed(x):
    s = Scratch(x).double()
    acc = {}
    for i in range(2):
        acc.setdefault("v", []).append(s.x * i)
    return spy(x) + basis(x.shape[0]) + table(x.shape[0]) + acc["v"][1]


print(embed(jnp.ones(3)), spy.shapes)
