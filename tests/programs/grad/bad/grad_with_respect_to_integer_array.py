# source: jax-ml/jax#2663
# blind: eighteenth

import jax
import jax.numpy as jnp


def polynomial(coeffs, x):
    return jnp.polyval(coeffs, x)


def loss_fn(coeffs, x, y):
    return jnp.mean((polynomial(coeffs, x) - y) ** 2)


def gauss_newton_step(coeffs, x, y, damping=1e-3):
    jac = jax.jacfwd(polynomial)(coeffs.astype(jnp.float32), x)
    r = polynomial(coeffs, x) - y
    lhs = jac.T @ jac + damping * jnp.eye(jac.shape[1])
    return coeffs - jnp.linalg.solve(lhs, jac.T @ r)


@jax.jit
def gradient_norm(coeffs, x, y):
    g = jax.grad(loss_fn)(coeffs, x, y)  # finding
    return jnp.sqrt(jnp.vdot(g, g))


def fit(x, y, max_iter=5, tol=1e-4):
    coeffs = jnp.array([1, 0, 0])  # finding-also
    start = gradient_norm(coeffs, x, y)  # finding-also
    for _ in range(max_iter):
        coeffs = gauss_newton_step(coeffs, x, y)
    return coeffs, start, gradient_norm(coeffs, x, y) < tol


if __name__ == "__main__":
    xs = jnp.linspace(-1.0, 1.0, 21)
    print(fit(xs, 3 * xs**2 - 2 * xs + 0.5))
