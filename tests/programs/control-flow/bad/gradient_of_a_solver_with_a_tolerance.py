# source: jax-ml/jax#650
# blind: ninth

import jax
import jax.numpy as jnp


class Sinkhorn:
    def __init__(self, epsilon, tol=1e-4):
        self.epsilon, self.tol = epsilon, tol

    def solve(self, cost, a, b):
        kernel = jnp.exp(-cost / self.epsilon)

        def unfinished(state):
            return state[2] > self.tol

        def update(state):
            u, v, _ = state
            new_u = a / (kernel @ v)
            return new_u, b / (kernel.T @ new_u), jnp.abs(new_u - u).max()

        u, v, _ = jax.lax.while_loop(unfinished, update, (a, b, jnp.asarray(jnp.inf)))  # finding
        return jnp.sum(u[:, None] * kernel * v * cost)


def distance(points, targets, solver):
    cost = jnp.sum((points[:, None] - targets) ** 2, -1)
    n, m = cost.shape
    return solver.solve(cost, jnp.full(n, 1 / n), jnp.full(m, 1 / m))


def fit(points, targets, steps=3):
    solver = Sinkhorn(0.5)
    update = jax.jit(lambda p: p - 0.1 * jax.grad(distance)(p, targets, solver))  # finding-also
    for _ in range(steps):
        points = update(points)
    return points


if __name__ == "__main__":
    print(fit(jnp.ones((4, 2)), jnp.zeros((5, 2))))
