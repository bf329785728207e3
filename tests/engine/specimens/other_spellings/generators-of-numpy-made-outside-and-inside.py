# generators of NumPy, made outside and inside
import jax
import jax.numpy as jnp
import numpy as np

class Noise:
    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)

    def __call__(self, x):
        fixed = np.random.default_rng(0).normal(size=3)
        return x + fixed + self.rng.uniform()  # finding: impure-call

noise = Noise(0)
jax.jit(lambda x: noise(x))(jnp.ones(3))
