# source: jax-ml/jax#5605
# blind: second

import dataclasses

import jax
import jax.numpy as jnp


class Counter:
    def __init__(self):
        self.total = 0

    def add(self, n):
        self.total += n


@dataclasses.dataclass
class Problem:
    matrix: jax.Array
    counter: Counter = dataclasses.field(default_factory=Counter)

    def residual(self, x, b):
        return self.matrix @ x - b


class Solver:
    def __init__(self, problem):
        self.problem = problem
        self.run = jax.jit(self._run, static_argnames="steps")

    def _run(self, b, steps):
        def body(_, x):
            r = self.problem.residual(x, b)
            return x - 0.1 * self.problem.matrix.T @ r

        return jax.lax.fori_loop(0, steps, body, jnp.zeros_like(b))

    def solve(self, b, steps=50):
        x = self.run(b, steps=steps)
        self.problem.counter.add(steps)
        self.last = x
        return x


if __name__ == "__main__":
    solver = Solver(Problem(jnp.eye(3) + 0.1))
    print(solver.solve(jnp.ones(3)), solver.problem.counter.total)
