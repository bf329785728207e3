# source: jax-ml/jax#10596
# blind: seventh

"""Kernel ridge regression as a class with compiled methods."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


class KernelRidge:
    def __init__(self, x, y, bandwidth=1.0, ridge=1e-3):
        self.x = jnp.asarray(x)
        self.y = jnp.asarray(y)
        self.bandwidth = bandwidth
        self.ridge = ridge

    def _gram(self, a, b):
        sq = jnp.sum((a[:, None, :] - b[None, :, :]) ** 2, axis=-1)
        return jnp.exp(-0.5 * sq / self.bandwidth**2)

    @partial(jax.jit, static_argnums=0)  # finding
    def predict(self, alpha, queries):
        return self._gram(queries, self.x) @ alpha  # finding-also

    @partial(jax.jit, static_argnums=0)  # finding-also
    def residual(self, alpha):
        return self._gram(self.x, self.x) @ alpha + self.ridge * alpha - self.y  # finding-also


def main():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200_000, 32)).astype(np.float32)
    model = KernelRidge(x, np.sin(x[:, 0]))
    print(model.predict(jnp.zeros(200_000), jnp.ones((4, 32))))


if __name__ == "__main__":
    main()
