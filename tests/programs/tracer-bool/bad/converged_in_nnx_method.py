# source: google/flax#3879
# blind: first

import jax.numpy as jnp
from flax import nnx


class FixedPoint(nnx.Module):
    def __init__(self, width: int, rngs: nnx.Rngs, tol: float = 1e-4):
        self.cell = nnx.Linear(width, width, rngs=rngs)
        self.tol = tol

    def residual(self, z, x):
        return jnp.max(jnp.abs(jnp.tanh(self.cell(z)) + x - z))

    def __call__(self, x, max_iter=50):
        z = jnp.zeros_like(x)
        for _ in range(max_iter):
            z = jnp.tanh(self.cell(z)) + x
            if self.residual(z, x) < self.tol:  # finding
                break
        return z


@nnx.jit
def forward(model, x):
    return model(x)


if __name__ == "__main__":
    print(forward(FixedPoint(4, nnx.Rngs(0)), jnp.ones((2, 4))).shape)
