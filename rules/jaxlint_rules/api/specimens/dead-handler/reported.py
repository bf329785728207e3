# handlers that wait for exceptions of NumPy and of Python's numbers
import jax
import jax.numpy as jnp
import numpy as np
from numpy.linalg import LinAlgError


def factor(k):
    try:
        return jnp.linalg.cholesky(k)  # finding
    except np.linalg.LinAlgError:
        return jnp.linalg.cholesky(k + 1e-6 * jnp.eye(3))


def solve(a, b):
    return jax.scipy.linalg.solve(a, b)


def step(a, b, damping):
    try:
        delta = solve(a + damping * jnp.eye(3), b)  # finding
    except (LinAlgError):
        return b, damping * 10.0
    return b - delta, damping / 2.0


def ratio(hits, total):
    total = jnp.sum(total)
    try:
        rate = jnp.sum(hits) / total  # finding
    except ZeroDivisionError:
        rate = 0.0
    return rate


x = jnp.eye(3)
print(factor(x), step(x, jnp.ones(3), 0.1), ratio(jnp.ones(3), jnp.zeros(3)))
