# source: jax-ml/jax#9288
# blind: fifth

import jax
import jax.numpy as jnp


class RidgeModel:
    def __init__(self, alpha):
        self.alpha = alpha
        self.coef = None

    def fit(self, x, y):
        gram = x.T @ x + self.alpha * jnp.eye(x.shape[1])
        self.coef = jnp.linalg.solve(gram, x.T @ y)
        return self

    def predict(self, x):
        return jax.jit(lambda x: x @ self.coef)(x)  # finding


def rolling_forecast(x, y, window):
    errors = []
    for start in range(0, x.shape[0] - window, window):
        model = RidgeModel(1.0).fit(x[start : start + window], y[start : start + window])
        ahead = x[start + window : start + window + 1]
        errors.append(jnp.abs(model.predict(ahead) - y[start + window]).sum())
    return jnp.stack(errors).mean()


if __name__ == "__main__":
    x = jax.random.normal(jax.random.key(0), (64, 4))
    print(rolling_forecast(x, x.sum(axis=1), 8))
