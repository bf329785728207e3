# blind: nineteenth

import functools

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def gram_kernel(x_ref, o_ref):
    @pl.when(pl.program_id(0) == 0)
    def _clear():
        o_ref[...] = jnp.zeros_like(o_ref)

    x = x_ref[...]
    o_ref[...] += jnp.dot(x.T, x, preferred_element_type=jnp.float32)


@functools.partial(jax.jit, static_argnames=("block_rows",))
def gram(x, block_rows=16):
    rows, cols = x.shape
    return pl.pallas_call(
        gram_kernel,
        grid=(rows // block_rows,),
        in_specs=[pl.BlockSpec((block_rows, cols), lambda i: (i, 0))],
        out_specs=pl.BlockSpec((cols, cols), lambda i: (0, 0)),
        out_shape=jax.ShapeDtypeStruct((cols, cols), jnp.float32),
        interpret=True,
    )(x)


@jax.jit
def ridge(x, y, penalty):
    return jnp.linalg.solve(gram(x) + penalty * jnp.eye(x.shape[1]), x.T @ y)


def main():
    k_x, k_w = jax.random.split(jax.random.key(0))
    x = jax.random.normal(k_x, (128, 8))
    w = jax.random.normal(k_w, (8,))
    print("gram error", float(jnp.abs(gram(x) - x.T @ x).max()))
    print("weight error", float(jnp.abs(ridge(x, x @ w, 1e-3) - w).max()))


if __name__ == "__main__":
    main()
