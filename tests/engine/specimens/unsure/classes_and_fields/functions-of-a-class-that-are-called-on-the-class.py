# functions of a class that are called on the class
import jax

class Linear:
    def __init__(self, size):
        self.size = size

    @jax.jit
    def value(weight, state):
        return weight @ state

    def gradient(weight, state):
        return Linear.value(weight, state) * state
