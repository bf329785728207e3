# source: jax-ml/jax#7144
# blind: eighth

import jax
import jax.numpy as jnp
import numpy as np


class Learner:
    def __init__(self, params):
        self.params = params
        self.best = params
        self._update = jax.jit(self._step, donate_argnums=(0,))

    def _step(self, params, x):
        return params - 0.1 * jax.grad(lambda p: jnp.mean((x @ p) ** 2))(params)

    def fit(self, batches):
        for x in batches:
            self.params = self._update(self.params, x)
        return np.save("best.npy", np.asarray(self.best))  # finding


if __name__ == "__main__":
    Learner(jnp.ones(3)).fit([jnp.ones((2, 3))] * 2)
