# a constant that a function is given beside ever more numbers
import jax
import jax.numpy as jnp

def rescaled(matrix, rounds, norm=float("inf")):
    for _ in range(rounds):
        if norm == float("inf"):
            sizes = jnp.abs(matrix).max(axis=0)
        elif jnp.all(matrix == 0):
            sizes = jnp.ones(matrix.shape[1])
        else:
            sizes = jnp.linalg.norm(matrix, norm, axis=0)
        matrix = matrix / sizes
    return matrix

@jax.jit
def solve(matrix):
    tries = [rescaled(matrix, 1), rescaled(matrix, 2), rescaled(matrix, 3), rescaled(matrix, 4)]
    tries += [rescaled(matrix, 5, jnp.inf), rescaled(matrix, 6, jnp.inf), rescaled(matrix, 7)]
    return tries, rescaled(matrix, 8)

solve(jnp.ones((3, 3)))
