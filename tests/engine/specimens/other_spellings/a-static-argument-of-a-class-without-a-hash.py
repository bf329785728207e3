# a static argument of a class without a hash
from functools import partial
import jax

class Config:
    def __init__(self, lr):
        self.lr = lr

    def __eq__(self, other):
        return self.lr == other.lr

class Plain:
    lr = 0.1

@partial(jax.jit, static_argnums=1)
def step(w, config):
    return w * config.lr

step(1.0, Plain())
step(1.0, Config(0.1))  # finding: unhashable-static-argument
