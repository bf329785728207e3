# blind: eighteenth

import jax
import jax.numpy as jnp


def jacobi_sweep(a, b, x):
    d = jnp.diag(a)
    return (b - (a - jnp.diag(d)) @ x) / d


def refine(operand):
    a, b, x = operand
    for _ in range(3):
        x = jacobi_sweep(a, b, x)
    return x, jnp.linalg.norm(a @ x - b)


def keep(operand):
    _, _, x = operand
    return x, 0  # finding


@jax.jit
def maybe_refine(a, b, x, tol):
    res = jnp.linalg.norm(a @ x - b)
    return jax.lax.cond(res > tol, refine, keep, (a, b, x))  # finding-also


class Smoother:
    def __init__(self, a, tol=1e-3):
        self.a = a
        self.tol = tol

    def __call__(self, b):
        x = b / jnp.diag(self.a)
        return maybe_refine(self.a, b, x, self.tol)


if __name__ == "__main__":
    mat = jnp.eye(4) * 4.0 + 0.3
    print(Smoother(mat)(jnp.ones(4)))
