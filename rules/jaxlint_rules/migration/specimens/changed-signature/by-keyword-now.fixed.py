# by keyword now
import jax


def dot(x, y):
    return jax.lax.dot(x, y, precision=jax.lax.Precision.HIGHEST)
