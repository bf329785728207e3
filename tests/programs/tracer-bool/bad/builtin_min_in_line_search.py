# source: jax-ml/jax#16430

import jax
import jax.numpy as jnp


class TrustRegion:
    def __init__(self, radius, shrink=0.5):
        self.radius = radius
        self.shrink = shrink

    def clipped_length(self, step):
        length = jnp.linalg.norm(step)
        return min(length, self.radius)  # finding

    def project(self, step):
        length = jnp.linalg.norm(step) + 1e-9
        return step / length * self.clipped_length(step)


def make_update(objective, region):
    gradient = jax.grad(objective)

    @jax.jit
    def update(x):
        return x - region.project(gradient(x))

    return update


def rosenbrock(x):
    return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


if __name__ == "__main__":
    update = make_update(rosenbrock, TrustRegion(0.1))
    x = jnp.array([-1.2, 1.0, 0.7])
    for _ in range(10):
        x = update(x)
    print(x)
