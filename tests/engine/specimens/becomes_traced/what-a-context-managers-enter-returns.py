# what a context manager's `__enter__` returns
import jax
import jax.numpy as jnp

class Scaled:
    def __init__(self, x):
        self.x = x

    def __enter__(self):
        return jnp.max(self.x)

    def __exit__(self, *error):
        return False

class Sized(Scaled):
    def __enter__(self):
        return self.x.shape[0]

@jax.jit
def normalised(x):
    with Sized(x) as size:
        if size > 2:
            x = x[:2]
    with Scaled(x) as peak:
        return x / peak if peak > 2.0 else x  # finding: tracer-branch

normalised(jnp.ones(4))
