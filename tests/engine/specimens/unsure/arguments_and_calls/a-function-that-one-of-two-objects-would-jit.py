# a function that one of two objects would jit
import jax
import numpy as np

class Jitted:
    def quality(self, sampler):
        return jax.jit(sampler)(1.0)

class Plain:
    def quality(self, sampler):
        return sampler(1.0)

def load(classes):
    if classes > 1:
        return Plain()
    return Jitted()

def sampler(x):
    return np.array(x)

def main(classes):
    return load(classes).quality(sampler)
