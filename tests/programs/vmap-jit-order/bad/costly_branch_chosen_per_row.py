# source: google/flax#4700
# blind: second

import functools

import jax
import jax.numpy as jnp


class ConvexSolver:
    def __init__(self, iterations):
        self.iterations = iterations

    def exact(self, a, b):
        return jnp.linalg.solve(a, b)

    def iterate(self, a, b):
        def body(_, x):
            return x - 0.1 * (a @ x - b)

        return jax.lax.fori_loop(0, self.iterations, body, b)

    def __call__(self, a, b, well_conditioned):
        return jax.lax.cond(well_conditioned, self.iterate, self.exact, a, b)  # finding


def condition(a):
    s = jnp.linalg.eigvalsh(a)
    return s[-1] / s[0] < 10


@functools.partial(jax.jit, static_argnames="iterations")
def solve_batch(matrices, rhs, iterations=50):
    solver = ConvexSolver(iterations)
    flags = jax.vmap(condition)(matrices)
    return jax.vmap(solver)(matrices, rhs, flags)  # finding-also


if __name__ == "__main__":
    roots = jax.random.normal(jax.random.key(0), (16, 5, 5)) / 5
    matrices = roots @ roots.transpose(0, 2, 1) + 0.5 * jnp.eye(5)
    print(solve_batch(matrices, jnp.ones((16, 5))).shape)
