# a function moved to a module of its own
import jax


def scale(grads, n):
    return jax.tree_map(lambda g: g / n, grads)  # finding
