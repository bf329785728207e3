# blind: tenth

import jax
import jax.numpy as jnp


class Regressor:
    def __init__(self, width):
        self.w = jnp.zeros(width)
        self.predict = jax.jit(self._predict)

    def _predict(self, x):
        return x @ self.w  # finding-also

    def fit(self, x, y, steps):
        for _ in range(steps):
            error = self.predict(x) - y
            self.w = self.w - 0.1 * x.T @ error / len(y)  # finding


model = Regressor(3)
model.fit(jnp.eye(3), jnp.arange(3.0), 100)
print(model.predict(jnp.eye(3)))
