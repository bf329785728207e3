# functions that a solver of SciPy calls

import jax
import jax.numpy as jnp
import numpy as np
from scipy import integrate
from scipy.optimize import minimize

class Fit:
    def nll(self, w, x, y):
        return jnp.sum((x @ w - y) ** 2)

    def fit(self, x, y):
        def fun(w):
            value, grad = jax.jit(jax.value_and_grad(lambda w: self.nll(w, x, y)))(w)  # finding
            return float(value), np.asarray(grad)

        compiled = jax.jit(jax.value_and_grad(self.nll))

        def once(w):
            value, grad = compiled(w, x, y)
            return float(value), np.asarray(grad)

        best = minimize(once, np.zeros(3), jac=True)
        return minimize(fun, best.x, jac=True)

def decay(t, y, rate):
    return jax.jit(lambda y: -rate * y)(y)  # finding

def simulate(y, rate):
    def field(t, y):
        return -rate * y

    solved = integrate.solve_ivp(jax.jit(field), (0.0, 1.0), y)
    return integrate.solve_ivp(decay, (0.0, 1.0), y, args=(rate,)), solved

def alone(y, rate):
    return jax.jit(lambda y: -rate * y)(y)
