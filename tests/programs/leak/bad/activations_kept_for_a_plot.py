# blind: tenth

import jax
import jax.numpy as jnp


class Net:
    def __init__(self, key):
        self.w = jax.random.normal(key, (4, 4))
        self.hidden = None

    def __call__(self, x):
        h = jnp.tanh(x @ self.w)
        self.hidden = h  # finding
        return h.sum()


net = Net(jax.random.key(0))
value = jax.jit(net)(jnp.ones((2, 4)))
try:
    print(net.hidden.mean())
except jax.errors.UnexpectedTracerError as error:
    print(type(error).__name__)
