# an argument that takes another value now
import jax.scipy.linalg as jsl


def solve(a, b):
    return jsl.solve(a, b, assume_a="pos")
