# source: PlasmaControl/DESC#310
# blind: eighteenth

import functools

import jax
import jax.numpy as jnp


class TrackingObjective:
    def __init__(self, target, weight=1.0):
        self.target = jnp.asarray(target)
        self.weight = weight

    @functools.partial(jax.jit, static_argnums=0)  # finding-also
    def cost(self, u):  # finding-also
        x = jnp.cumsum(u, axis=0) * 0.1
        track = jnp.sum((x - self.target) ** 2)  # finding-also
        return self.weight * track + 1e-2 * jnp.sum(u**2)

    def gradient(self, u):
        return jax.grad(lambda v: self.cost(v))(u)


class Continuation:
    """Raise the tracking weight in stages, warm-starting each one."""

    def __init__(self, objective, stages=(1.0, 10.0, 100.0)):
        self.objective = objective
        self.stages = stages

    def solve(self, u, iters=10, lr=1e-2):
        costs = []
        for weight in self.stages:
            self.objective.weight = weight  # finding
            for _ in range(iters):
                u = u - lr * self.objective.gradient(u)
            costs.append(self.objective.cost(u))
        return u, costs


if __name__ == "__main__":
    obj = TrackingObjective(jnp.ones((8, 2)))
    controls, history = Continuation(obj).solve(jnp.zeros((8, 2)))
    print(jnp.stack(history))
