# a function moved to a module of its own
import jax


def scale(grads, n):
    return jax.tree.map(lambda g: g / n, grads)
