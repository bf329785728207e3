# attributes of an object that is kept, sizes that follow from others

from functools import partial
import jax
import jax.numpy as jnp
import numpy as np

class Interpolator:
    def __init__(self, n=512):
        self.table = jnp.sin(jnp.arange(n * n, dtype=jnp.float32)).reshape(n, n)
        self.small = jnp.zeros(8)

    @partial(jax.jit, static_argnums=0)
    def look_up(self, i):
        return self.table[i] + self.small[0]  # finding

    @jax.jit
    def plain(self, i):
        return self.table[i]

class Kept:
    def __init__(self, rng):
        self.basis = jnp.asarray(rng.normal(size=(512, 512)))
        self._project = jax.jit(self.project)

    def project(self, x):
        return self.basis @ x  # finding

class Sized:
    def __init__(self, n):
        self.basis = jnp.eye(n) + 0.1 * jnp.ones((n, n))
        self._project = jax.jit(self.project)

    def project(self, x):
        return self.basis @ x  # finding

sized = Sized(512)

POSITIONS = np.random.default_rng(1).normal(size=(1000, 3))
DISTANCES = np.sqrt(((POSITIONS[:, None] - POSITIONS[None]) ** 2).sum(-1))

@jax.jit
def potential(charges):
    return charges @ (jnp.exp(-DISTANCES) @ charges)  # finding

def score(query):
    return POSITIONS @ DISTANCES @ query  # finding

best = jax.jit(lambda query: jnp.argmax(score(query)))

@jax.jit
def center(x):
    return x - POSITIONS.mean(0)
