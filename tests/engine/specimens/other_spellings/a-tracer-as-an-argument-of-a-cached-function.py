# a tracer as an argument of a cached function
from functools import lru_cache
import jax

@lru_cache
def doubled(n):
    return n * 2

@jax.jit
def f(x):
    return doubled(x.shape[0]) + doubled(x[0])  # finding: tracer-concretization

f(jax.numpy.ones(3))
