# NumPy's own computations, numbers of Python, wider handlers, and functions that may raise
import jax.numpy as jnp
import numpy as np


def in_numpy(k):
    try:
        return np.linalg.cholesky(k)
    except np.linalg.LinAlgError:
        return np.linalg.cholesky(k + 1e-6 * np.eye(3))


def both(k, m):
    try:
        return jnp.linalg.cholesky(k), np.linalg.inv(m)
    except np.linalg.LinAlgError:
        return None


def wide(k):
    try:
        return jnp.linalg.cholesky(k)
    except (np.linalg.LinAlgError, ValueError):
        return None


def any_error(k):
    try:
        return jnp.linalg.cholesky(k)
    except Exception:
        return None


def checked(k):
    if np.isnan(np.asarray(k)).any():
        raise np.linalg.LinAlgError("not a number")
    return jnp.linalg.cholesky(k)


def by_check(k):
    try:
        return checked(k), jnp.linalg.inv(k)
    except np.linalg.LinAlgError:
        return None


def by_unknown(k, solver):
    try:
        return jnp.linalg.inv(solver(k))
    except np.linalg.LinAlgError:
        return None


def counts(hits, total):
    try:
        share = len(hits) / len(total)
        return jnp.sum(hits) / share
    except ZeroDivisionError:
        return 0.0


x = jnp.eye(3)
print(in_numpy(np.eye(3)), both(x, np.eye(3)), wide(x), any_error(x), by_check(x), by_unknown(x, np.linalg.inv))
print(counts(jnp.ones(3), []))
