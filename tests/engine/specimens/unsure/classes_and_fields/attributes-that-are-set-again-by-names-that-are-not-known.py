# attributes that are set again, by names that are not known
import jax
import jax.numpy as jnp
import numpy as np

class Schedule:
    def __init__(self, betas):
        self.betas = np.array(betas)
        self.products = np.cumprod(self.betas)
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                setattr(self, name, jnp.array(value))

    def at(self, t):
        return self.products[t]

schedule = Schedule([0.1, 0.2])

@jax.jit
def loss(x, t):
    return x * schedule.at(t)

loss(1.0, 1)
