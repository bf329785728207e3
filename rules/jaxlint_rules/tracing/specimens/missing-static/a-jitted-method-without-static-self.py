# a jitted method without static self

import jax

class Model:
    def __init__(self, width):
        self.width = width

    @jax.jit  # finding
    def apply(self, x):
        return x * self.width

def main(x):
    model = Model(3)
    return model.apply(x)
