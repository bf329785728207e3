# source: jax-ml/jax#10596
# blind: seventh

"""Kernel ridge regression whose compiled function takes the data as arguments."""

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def gram(a, b, bandwidth):
    sq = jnp.sum((a[:, None, :] - b[None, :, :]) ** 2, axis=-1)
    return jnp.exp(-0.5 * sq / bandwidth**2)


@jax.jit
def evaluate(alpha, queries, x, bandwidth):
    return gram(queries, x, bandwidth) @ alpha


class KernelRidge:
    def __init__(self, x, bandwidth=1.0):
        self.x = jnp.asarray(x)
        self.bandwidth = bandwidth

    def predict(self, alpha, queries):
        return evaluate(alpha, queries, self.x, self.bandwidth)


def main():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20_000, 32)).astype(np.float32)
    model = KernelRidge(x)
    print(model.predict(jnp.zeros(20_000), jnp.ones((4, 32))))


if __name__ == "__main__":
    main()
