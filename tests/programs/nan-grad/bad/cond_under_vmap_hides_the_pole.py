# source: jax-ml/jax#1722
# blind: second
# missed: that the branch divides by what the condition asks about is not followed into branches

import jax
import jax.numpy as jnp
from jax import lax


def series(x):
    return 1.0 - x**2 / 6.0


def direct(x):
    return jnp.sin(x) / x


def sinc(x):
    return lax.cond(jnp.abs(x) < 1e-6, series, direct, x)  # finding


def kernel_matrix(points, scale):
    delta = (points[:, None] - points[None, :]) / scale
    return jax.vmap(jax.vmap(sinc))(delta)  # finding-also


def fit_loss(scale, points, targets):
    k = kernel_matrix(points, scale) + 1e-3 * jnp.eye(points.shape[0])
    weights = jnp.linalg.solve(k, targets)
    return jnp.mean((k @ weights - targets) ** 2) + 1e-4 * jnp.sum(weights**2)


def tune(points, targets, scale=1.0, steps=5):
    grad = jax.jit(jax.grad(fit_loss))
    for _ in range(steps):
        scale = scale - 0.1 * grad(scale, points, targets)
    return scale


if __name__ == "__main__":
    xs = jnp.linspace(0.0, 4.0, 9)
    print(tune(xs, jnp.cos(xs)))
