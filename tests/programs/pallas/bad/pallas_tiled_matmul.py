# blind: nineteenth

import functools

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def matmul_kernel(a_ref, b_ref, o_ref):
    o_ref[...] += jnp.dot(a_ref[...], b_ref[...], preferred_element_type=jnp.float32)  # finding


@functools.partial(jax.jit, static_argnames=("bm", "bn", "bk"))
def tiled_matmul(a, b, bm=32, bn=32, bk=32):
    m, k = a.shape
    _, n = b.shape
    return pl.pallas_call(
        matmul_kernel,
        grid=(m // bm, n // bn, k // bk),
        in_specs=[
            pl.BlockSpec((bm, bk), lambda i, j, s: (i, s)),
            pl.BlockSpec((bk, bn), lambda i, j, s: (s, j)),
        ],
        out_specs=pl.BlockSpec((bm, bn), lambda i, j, s: (i, j)),
        out_shape=jax.ShapeDtypeStruct((m, n), jnp.float32),
        interpret=True,
    )(a, b)


def low_rank_project(x, basis):
    gram = tiled_matmul(basis.T, basis)
    coeff = tiled_matmul(x, basis)
    return jnp.linalg.solve(gram, coeff.T).T


def power_iteration(matrix, vectors, steps):
    for _ in range(steps):
        vectors = tiled_matmul(matrix, vectors)
        vectors = vectors / jnp.linalg.norm(vectors, axis=0, keepdims=True)
    return vectors


def main():
    k_x, k_b, k_v = jax.random.split(jax.random.key(0), 3)
    x = jax.random.normal(k_x, (64, 96))
    basis = jax.random.normal(k_b, (96, 32))
    coeff = low_rank_project(x, basis)
    reference = jnp.linalg.lstsq(basis, x.T)[0].T
    print("projection error", float(jnp.max(jnp.abs(coeff - reference))))
    vectors = power_iteration(x @ x.T, jax.random.normal(k_v, (64, 32)), 3)
    print("finite vectors", bool(jnp.all(jnp.isfinite(vectors))))


if __name__ == "__main__":
    main()
