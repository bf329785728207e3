# source: jax-ml/jax#284

import jax
import jax.numpy as jnp
import numpy as np


class Emulator:
    """Neural emulator of an expensive simulator."""

    def __init__(self, weights, biases):
        self.weights = weights
        self.biases = biases

    def _forward(self, theta):
        h = theta
        for w, b in zip(self.weights[:-1], self.biases[:-1]):
            h = jax.nn.silu(h @ w + b)
        return h @ self.weights[-1] + self.biases[-1]

    @property
    def predict(self):
        return jax.jit(jax.vmap(lambda theta: self._forward(theta)))  # finding


def scan_prior(emulator, n_chunks=6, chunk=32):
    rng = np.random.default_rng(1)
    spectra = []
    for _ in range(n_chunks):
        theta = rng.uniform(size=(chunk, 3)).astype(np.float32)
        spectra.append(emulator.predict(theta))  # finding-also
    return jnp.concatenate(spectra)


if __name__ == "__main__":
    sizes = [3, 16, 16, 8]
    ws = [jnp.ones((i, o)) / i for i, o in zip(sizes[:-1], sizes[1:])]
    bs = [jnp.zeros(o) for o in sizes[1:]]
    print(scan_prior(Emulator(ws, bs)).shape)
