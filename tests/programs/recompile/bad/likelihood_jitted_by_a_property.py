# source: patrick-kidger/equinox#673
# blind: second

import jax
import jax.numpy as jnp


class Model:
    def __init__(self, xs, ys):
        self.xs, self.ys = xs, ys

    def log_density(self, theta):
        return -0.5 * jnp.sum((self.xs @ theta - self.ys) ** 2) - 0.5 * theta @ theta

    @property
    def score(self):
        return jax.jit(jax.grad(self.log_density))  # finding


class Langevin:
    def __init__(self, model, step):
        self.model = model
        self.step = step

    def move(self, theta, key):
        drift = self.model.score(theta)  # finding-also
        return theta + self.step * drift + jnp.sqrt(2 * self.step) * jax.random.normal(key, theta.shape)


def run(sampler, theta, key, count):
    for sub in jax.random.split(key, count):
        theta = sampler.move(theta, sub)
    return theta


if __name__ == "__main__":
    xs = jax.random.normal(jax.random.key(0), (10, 3))
    print(run(Langevin(Model(xs, xs.sum(1)), 1e-3), jnp.zeros(3), jax.random.key(1), 5))
