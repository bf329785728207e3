# blind: twentieth

"""Kernel ridge regression solved by conjugate gradients."""
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax


@dataclass(frozen=True)
class Solver:
    tol: float = 1e-5
    max_iter: int = 200


class CGState(NamedTuple):
    x: jax.Array
    r: jax.Array
    p: jax.Array
    rs: jax.Array
    it: jax.Array


def rbf(a, b, scale=1.0):
    d2 = jnp.sum(a**2, 1)[:, None] + jnp.sum(b**2, 1)[None, :] - 2.0 * a @ b.T
    return jnp.exp(-0.5 * d2 / scale**2)


def conjugate_gradient(matvec, b, solver):
    """Solves matvec(x) = b for a symmetric positive operator."""
    init = CGState(jnp.zeros_like(b), b, b, b.T @ b, jnp.zeros((), jnp.int32))  # finding-also

    def unfinished(s):
        return (s.rs > solver.tol) & (s.it < solver.max_iter)  # finding

    def body(s):
        ap = matvec(s.p)
        alpha = s.rs / (s.p.T @ ap)
        x = s.x + alpha * s.p
        r = s.r - alpha * ap
        rs = r.T @ r  # finding-also
        return CGState(x, r, r + (rs / s.rs) * s.p, rs, s.it + 1)

    return lax.while_loop(unfinished, body, init)  # finding-also


@partial(jax.jit, static_argnames="solver")
def fit(inputs, targets, ridge, solver):
    gram = rbf(inputs, inputs)
    out = conjugate_gradient(lambda v: gram @ v + ridge * v, targets, solver)  # finding-also
    return out.x, out.it


@jax.jit
def predict(inputs, weights, query):
    return rbf(query, inputs) @ weights


def make_data(key, n=200):
    k_x, k_noise = jax.random.split(key)
    inputs = jax.random.uniform(k_x, (n, 2), minval=-2.0, maxval=2.0)
    targets = jnp.sin(inputs.sum(axis=1, keepdims=True))  # finding-also
    return inputs, targets + 0.05 * jax.random.normal(k_noise, targets.shape)


def main():
    inputs, targets = make_data(jax.random.key(0))
    weights, iterations = fit(inputs, targets, 0.1, Solver())
    error = predict(inputs, weights, inputs) - targets
    print("iterations", int(iterations), "rmse", float(jnp.sqrt(jnp.mean(error**2))))


if __name__ == "__main__":
    main()
