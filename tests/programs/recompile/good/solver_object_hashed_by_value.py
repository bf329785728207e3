# source: jax-ml/jax#1491
# blind: second

import dataclasses
import functools

import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class GradientDescent:
    """Fixed number of descent steps on a quadratic."""

    rate: float
    steps: int

    def run(self, a, b, x):
        def body(_, x):
            return x - self.rate * (a @ x - b)

        return jax.lax.fori_loop(0, self.steps, body, x)


@functools.partial(jax.jit, static_argnames=("solver",))
def fit(a, b, solver):
    x = solver.run(a, b, jnp.zeros_like(b))
    return x, jnp.linalg.norm(a @ x - b)


def sweep(problems):
    residuals = []
    for a, b in problems:
        solution, residual = fit(a, b, solver=GradientDescent(0.1, 50))
        residuals.append(residual)
    return jnp.stack(residuals)


def make_problem(key):
    ka, kb = jax.random.split(key)
    root = jax.random.normal(ka, (6, 6)) / 6
    return root @ root.T + jnp.eye(6), jax.random.normal(kb, (6,))


if __name__ == "__main__":
    problems = [make_problem(k) for k in jax.random.split(jax.random.key(3), 12)]
    print(sweep(problems).max())
