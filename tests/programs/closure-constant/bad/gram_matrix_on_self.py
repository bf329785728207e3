# source: jax-ml/jax#14655
# blind: fifth

import jax
import jax.numpy as jnp


def rbf(a, b, length):
    d2 = jnp.sum((a[:, None, :] - b[None, :, :]) ** 2, axis=-1)
    return jnp.exp(-0.5 * d2 / length**2)


class KernelRegression:
    def __init__(self, inputs, targets, length=1.0, noise=1e-2):
        self.inputs = inputs
        self.targets = targets
        self.gram = rbf(inputs, inputs, length) + noise * jnp.eye(len(inputs))
        self._residual = jax.jit(self._compute_residual)  # finding-also

    def _compute_residual(self, alpha):
        return self.gram @ alpha - self.targets  # finding

    def fit(self, steps, rate=1e-3):
        alpha = jnp.zeros_like(self.targets)
        for _ in range(steps):
            alpha = alpha - rate * self._residual(alpha)
        return alpha


if __name__ == "__main__":
    x = jax.random.normal(jax.random.key(0), (2000, 2))
    model = KernelRegression(x, jnp.sin(x[:, 0]))
    print(model.fit(3)[:3])
