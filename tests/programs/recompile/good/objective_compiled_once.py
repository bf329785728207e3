# blind: ninth

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import minimize


class MaximumLikelihood:
    def __init__(self, x, y):
        self.x, self.y = jnp.asarray(x), jnp.asarray(y)
        self.value_and_grad = jax.jit(jax.value_and_grad(self.nll))

    @staticmethod
    def nll(theta, x, y, ridge):
        return jnp.mean(jnp.logaddexp(0.0, -y * (x @ theta))) + ridge * jnp.sum(theta**2)

    def objective(self, theta, ridge):
        value, grad = self.value_and_grad(theta, self.x, self.y, ridge)
        return float(value), np.asarray(grad, np.float64)

    def fit(self, ridge=1e-3):
        return minimize(self.objective, np.zeros(self.x.shape[1]), args=(ridge,), jac=True).x


if __name__ == "__main__":
    x = np.random.default_rng(0).normal(size=(200, 5))
    print(MaximumLikelihood(x, np.sign(x[:, 0] + 0.3)).fit())
