# source: jax-ml/jax-triton#44
# blind: twentieth

"""Row-tiled masked softmax as a Pallas kernel, checked in interpret mode."""
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


@dataclass(frozen=True)
class Tiling:
    rows: int = 32
    interpret: bool = True


def softmax_kernel(x_ref, length_ref, o_ref):
    x = x_ref[...]
    column = jax.lax.broadcasted_iota(jnp.int32, x.shape, 1)
    x = jnp.where(column < length_ref[...], x, -jnp.inf)
    x = x - x.max(axis=1, keepdims=True)
    weight = jnp.exp(x)
    o_ref[...] = weight / weight.sum(axis=1, keepdims=True)


@partial(jax.jit, static_argnames="tiling")
def masked_softmax(x, lengths, tiling):
    """x: (rows, columns), lengths: (rows,) number of valid columns, at least one."""
    rows, columns = x.shape
    tile = tiling.rows
    if rows % tile:
        raise ValueError(f"{rows} rows do not split into tiles of {tile}")
    return pl.pallas_call(
        softmax_kernel,
        grid=(rows // tile,),
        in_specs=[
            pl.BlockSpec((tile, columns), lambda i: (i, 0)),
            pl.BlockSpec((tile, 1), lambda i: (i * tile, 0)),  # finding
        ],
        out_specs=pl.BlockSpec((tile, columns), lambda i: (i, 0)),
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        interpret=tiling.interpret,
    )(x, lengths[:, None])


def attention_weights(query, key_rows, lengths, tiling):
    scores = query @ key_rows.T * query.shape[-1] ** -0.5
    return masked_softmax(scores, lengths, tiling)


def reference(query, key_rows, lengths):
    scores = query @ key_rows.T * query.shape[-1] ** -0.5
    valid = jnp.arange(key_rows.shape[0]) < lengths[:, None]
    return jax.nn.softmax(jnp.where(valid, scores, -jnp.inf), axis=1)


def main():
    k_query, k_rows, k_len = jax.random.split(jax.random.key(0), 3)
    query = jax.random.normal(k_query, (256, 32))
    key_rows = jax.random.normal(k_rows, (128, 32))
    lengths = jax.random.randint(k_len, (256,), 1, 129)
    tiling = Tiling()
    weights = attention_weights(query, key_rows, lengths, tiling)
    error = jnp.abs(weights - reference(query, key_rows, lengths)).max()
    print("row sums", float(weights.sum(axis=1).min()), "error", float(error))


if __name__ == "__main__":
    main()
