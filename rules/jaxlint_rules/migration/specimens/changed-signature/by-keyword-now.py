# by keyword now
import jax


def dot(x, y):
    return jax.lax.dot(x, y, jax.lax.Precision.HIGHEST)  # finding
