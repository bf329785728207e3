# blind: twentieth

"""Tiled matrix product with a bias row, as a Pallas kernel in interpret mode."""
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


@dataclass(frozen=True)
class Tiling:
    rows: int = 32
    cols: int = 64
    inner: int = 32
    interpret: bool = True


def matmul_kernel(x_ref, y_ref, bias_ref, o_ref):
    @pl.when(pl.program_id(2) == 0)
    def _():
        o_ref[...] = jnp.broadcast_to(bias_ref[...], o_ref.shape)

    o_ref[...] += x_ref[...] @ y_ref[...]


def check(shape, tiles):
    for size, tile in zip(shape, tiles):
        if size % tile:
            raise ValueError(f"{size} is not a multiple of the tile {tile}")


@partial(jax.jit, static_argnames="t")
def dense(x, y, bias, t):
    (m, k), n = x.shape, y.shape[1]
    check((m, n, k), (t.rows, t.cols, t.inner))
    return pl.pallas_call(
        matmul_kernel,
        grid=(m // t.rows, n // t.cols, k // t.inner),
        in_specs=[
            pl.BlockSpec((t.rows, t.inner), lambda i, j, s: (i, s)),
            pl.BlockSpec((t.inner, t.cols), lambda i, j, s: (s, j)),
            pl.BlockSpec((1, t.cols), lambda i, j, s: (0, j)),
        ],
        out_specs=pl.BlockSpec((t.rows, t.cols), lambda i, j, s: (i, j)),
        out_shape=jax.ShapeDtypeStruct((m, n), jnp.float32),
        interpret=t.interpret,
    )(x, y, bias[None, :])


def mlp(params, x, tiling):
    h = jax.nn.relu(dense(x, params["w1"], params["b1"], tiling))
    return dense(h, params["w2"], params["b2"], tiling)


def reference(params, x):
    h = jax.nn.relu(x @ params["w1"] + params["b1"])
    return h @ params["w2"] + params["b2"]


def main():
    k1, k2, k3, k4, k_x = jax.random.split(jax.random.key(0), 5)
    params = {
        "w1": jax.random.normal(k1, (64, 128)) * 0.1,
        "b1": jax.random.normal(k2, (128,)),
        "w2": jax.random.normal(k3, (128, 64)) * 0.1,
        "b2": jax.random.normal(k4, (64,)),
    }
    x = jax.random.normal(k_x, (96, 64))
    error = jnp.abs(mlp(params, x, Tiling()) - reference(params, x)).max()
    print("largest difference", float(error))


if __name__ == "__main__":
    main()
