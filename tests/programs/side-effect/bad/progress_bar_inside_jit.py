# source: jax-ml/jax#3086

import jax
import jax.numpy as jnp


class Progress:
    def __init__(self, total):
        self.total = total
        self.done = 0

    def update(self, n=1):
        self.done += n  # finding


def make_sampler(log_density, progress):
    grad = jax.grad(log_density)

    @jax.jit
    def kernel(x, key):
        progress.update()
        noise = jax.random.normal(key, x.shape)
        return x + 0.01 * grad(x) + 0.1 * noise

    return kernel


def run(n=50):
    progress = Progress(n)
    kernel = make_sampler(lambda x: -0.5 * jnp.sum(x**2), progress)
    x = jnp.zeros(2)
    for i in range(n):
        x = kernel(x, jax.random.key(i))
    print(f"{progress.done}/{progress.total}", x)


run()
