# source: jax-ml/jax#14183
# blind: ninth

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import minimize


class MaximumLikelihood:
    def __init__(self, x, y):
        self.x, self.y = jnp.asarray(x), jnp.asarray(y)

    def nll(self, theta, ridge):
        logits = self.x @ theta
        return jnp.mean(jnp.logaddexp(0.0, -self.y * logits)) + ridge * jnp.sum(theta**2)

    def objective(self, theta, ridge):
        value, grad = jax.jit(jax.value_and_grad(lambda t: self.nll(t, ridge)))(theta)  # finding
        return float(value), np.asarray(grad, np.float64)

    def fit(self, ridge=1e-3):
        start = np.zeros(self.x.shape[1])
        return minimize(self.objective, start, args=(ridge,), jac=True, method="L-BFGS-B").x


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 5))
    print(MaximumLikelihood(x, np.sign(x[:, 0] + 0.3)).fit())
