# source: mechmotum/cyipopt#204

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import minimize


class LogisticRegression:
    def __init__(self, l2=1e-2):
        self.l2 = l2

    def nll(self, w, X, y):
        margin = y * (X @ w)
        return jnp.mean(jnp.log1p(jnp.exp(-margin))) + self.l2 * jnp.sum(w**2)

    def fit(self, X, y):
        def fun(w):
            value, grad = jax.jit(jax.value_and_grad(lambda w: self.nll(w, X, y)))(w)  # finding
            return float(value), np.asarray(grad, dtype=np.float64)

        result = minimize(fun, np.zeros(X.shape[1]), jac=True, method="L-BFGS-B")
        self.coef_ = result.x
        return self


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = np.sign(X @ rng.normal(size=5))
    print(LogisticRegression().fit(X, y).coef_)
