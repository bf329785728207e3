# source: jax-ml/jax#19978
# blind: second

import jax
import jax.numpy as jnp
import numpy as np


class Simulator:
    """A legacy solver that runs on the host, elementwise."""

    def __init__(self, steps):
        self.steps = steps

    def host(self, theta):
        theta = np.asarray(theta)
        x = np.ones_like(theta)
        for _ in range(self.steps):
            x = x + 0.01 * theta * x
        return x.astype(theta.dtype)

    def __call__(self, theta):
        spec = jax.ShapeDtypeStruct(theta.shape, theta.dtype)
        return jax.pure_callback(self.host, spec, theta, vmap_method="expand_dims")


def distance(theta, observed, simulator):
    return jnp.sum((simulator(theta) - observed) ** 2)


def rejection(key, observed, simulator, count, keep):
    prior = jax.random.uniform(key, (count, observed.shape[0]))
    scores = jax.vmap(lambda t: distance(t, observed, simulator))(prior)
    return prior[jnp.argsort(scores)[:keep]]


if __name__ == "__main__":
    print(rejection(jax.random.key(0), jnp.ones(3), Simulator(10), 64, 4))
