# a model that is made again, into which weights are loaded

import equinox as eqx
import jax


class Evaluator:
    def __init__(self, key):
        self.key = key

    def skeleton(self):
        return eqx.nn.Linear(3, 3, key=self.key)

    def sample(self):
        return jax.random.normal(self.key)  # finding
