"""The same as naive.py, as GPJax fits: the covariance by two `vmap`s, the whole descent a loop of JAX.

After https://github.com/thomaspinder/GPJax: gpjax/kernels/computations/dense.py (`vmap(lambda x: vmap(lambda y: kernel(x, y))(x))(x)`)
and gpjax/fit.py (the steps in `jax.lax.scan`; here, with a test of convergence, in `jax.lax.while_loop`).
"""

import argparse

import jax
import jax.numpy as jnp
import numpy as np


def kernel(params, a, b):
    distance = jnp.sum(((a - b) * jnp.exp(params["log_scale"])) ** 2)
    return jnp.exp(params["log_amplitude"]) * jnp.exp(-0.5 * distance)


def kernel_matrix(params, x):
    return jax.vmap(lambda a: jax.vmap(lambda b: kernel(params, a, b))(x))(x)


def negative_log_likelihood(params, x, y):
    matrix = kernel_matrix(params, x) + jnp.exp(params["log_noise"]) * jnp.eye(len(x))
    factor = jnp.linalg.cholesky(matrix)
    solved = jax.scipy.linalg.cho_solve((factor, True), y)
    return 0.5 * jnp.dot(y, solved) + jnp.sum(jnp.log(jnp.diag(factor)))


value_and_grad = jax.value_and_grad(negative_log_likelihood)


@jax.jit
def fit(params, x, y, learning_rate, tolerance, most):
    def unfinished(carry):
        _, (_, grads), step = carry
        norm = jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(grads)))
        return (norm > tolerance) & (step < most)

    def descend(carry):
        params, (_, grads), step = carry
        params = jax.tree.map(lambda p, g: p - learning_rate * g, params, grads)
        return params, value_and_grad(params, x, y), step + 1

    params, (loss, _), step = jax.lax.while_loop(
        unfinished, descend, (params, value_and_grad(params, x, y), 0)
    )
    return params, loss, step


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--points", type=int, default=40)
    parser.add_argument("--starts", type=int, default=4)
    args = parser.parse_args()

    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, size=(args.points, 3)).astype(np.float32)
    y = np.sin(2 * x[:, 0]) + 0.5 * x[:, 1] ** 2 + 0.1 * rng.standard_normal(args.points)
    y = (y - y.mean()).astype(np.float32)
    for start in range(args.starts):
        params = {
            "log_scale": jnp.asarray(rng.uniform(-1, 1, size=3), jnp.float32),
            "log_amplitude": jnp.zeros(()),
            "log_noise": jnp.asarray(-2.0),
        }
        params, loss, steps = fit(params, x, y, 2e-3, 0.5, 200)
        print(f"start {start}: loss {float(loss):.3f} after {int(steps)} steps")


if __name__ == "__main__":
    main()
