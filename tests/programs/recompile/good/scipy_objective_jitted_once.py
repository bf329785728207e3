# source: mechmotum/cyipopt#204

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import minimize


def nll(w, X, y, l2):
    return jnp.mean(jnp.log1p(jnp.exp(-y * (X @ w)))) + l2 * jnp.sum(w**2)


value_and_grad = jax.jit(jax.value_and_grad(nll))


def fit(X, y, l2=1e-2):
    def fun(w):
        value, grad = value_and_grad(w, X, y, l2)
        return float(value), np.asarray(grad, np.float64)

    return minimize(fun, np.zeros(X.shape[1]), jac=True, method="L-BFGS-B").x


if __name__ == "__main__":
    X = np.random.default_rng(0).normal(size=(50, 3))
    print(fit(X, np.sign(X[:, 0])))
