# names and positions that do not exist

from functools import partial
import jax

@partial(jax.jit, static_argnames=("dept",))  # finding
def refine(x, depth):
    return x * depth

def scale(x, factor, *, mode):
    return x * factor

first = jax.jit(scale, static_argnums=(1, 2))  # finding
second = jax.jit(partial(scale, 2.0), static_argnums=1)  # finding

class Model:
    def __init__(self):
        self.run = jax.jit(self._run, static_argnums=2)  # finding

    def _run(self, x, steps):
        return x * steps

    @partial(jax.jit, static_argnums=(0, 3))  # finding
    def call(self, x, train):
        return x
