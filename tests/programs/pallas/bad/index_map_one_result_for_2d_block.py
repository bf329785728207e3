# source: jax-ml/jax#22173
# blind: eighteenth

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def softmax_kernel(x_ref, o_ref):
    x = x_ref[...]
    x = x - x.max(axis=-1, keepdims=True)
    e = jnp.exp(x)
    o_ref[...] = e / e.sum(axis=-1, keepdims=True)


def row_spec(rows, cols):
    return pl.BlockSpec((rows, cols), lambda i: i)  # finding


@jax.jit
def pallas_softmax(x):
    n, d = x.shape
    rows = 16
    return pl.pallas_call(
        softmax_kernel,
        grid=(n // rows,),
        in_specs=[row_spec(rows, d)],
        out_specs=row_spec(rows, d),
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        interpret=True,
    )(x)


def attention_probs(q, k):
    scores = q @ k.T / q.shape[-1] ** 0.5
    return pallas_softmax(scores)


def main():
    kq, kk = jax.random.split(jax.random.key(0))
    q = jax.random.normal(kq, (64, 8))
    k = jax.random.normal(kk, (32, 8))
    print(jnp.abs(attention_probs(q, k).sum(-1) - 1.0).max())


if __name__ == "__main__":
    main()
