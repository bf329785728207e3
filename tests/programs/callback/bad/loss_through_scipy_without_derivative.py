# source: jax-ml/jax#11928
# blind: second

import jax
import jax.numpy as jnp
import numpy as np
import optax
from scipy import special


def host_besselk(order, x):
    return special.kv(order, x).astype(x.dtype)


def besselk(order, x):
    out = jax.ShapeDtypeStruct(jnp.shape(x), x.dtype)
    return jax.pure_callback(host_besselk, out, np.float32(order), x)  # finding


def matern(r, log_scale, order=1.7):
    z = jnp.sqrt(2 * order) * (r + 1e-3) * jnp.exp(-log_scale)
    return z**order * besselk(order, z)


def negative_log_likelihood(log_scale, points, y):
    r = jnp.abs(points[:, None] - points[None, :])
    k = matern(r, log_scale) + 0.1 * jnp.eye(points.shape[0])
    chol = jnp.linalg.cholesky(k)
    alpha = jax.scipy.linalg.cho_solve((chol, True), y)
    return 0.5 * y @ alpha + jnp.sum(jnp.log(jnp.diag(chol)))


def fit(points, y, steps=3):
    tx = optax.sgd(1e-2)
    scale = jnp.zeros(())
    state = tx.init(scale)
    for _ in range(steps):
        grad = jax.grad(negative_log_likelihood)(scale, points, y)  # finding-also
        updates, state = tx.update(grad, state)
        scale = optax.apply_updates(scale, updates)
    return scale


if __name__ == "__main__":
    xs = jnp.linspace(0.0, 1.0, 8)
    print(fit(xs, jnp.sin(6 * xs)))
