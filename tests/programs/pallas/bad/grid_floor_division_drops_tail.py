# source: jax-ml/jax#22275
# blind: eighteenth

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

BLOCK = 128


def gelu_kernel(x_ref, o_ref):
    x = x_ref[...]
    o_ref[...] = 0.5 * x * (1.0 + jnp.tanh(0.7978845608 * (x + 0.044715 * x**3)))


def fused_gelu(x):
    flat = x.reshape(-1)
    n = flat.shape[0]
    out = pl.pallas_call(
        gelu_kernel,
        grid=(n // BLOCK,),  # finding
        in_specs=[pl.BlockSpec((BLOCK,), lambda i: (i,))],
        out_specs=pl.BlockSpec((BLOCK,), lambda i: (i,)),
        out_shape=jax.ShapeDtypeStruct((n,), x.dtype),
        interpret=True,
    )(flat)
    return out.reshape(x.shape)


@jax.jit
def ffn(params, x):
    return fused_gelu(x @ params["w1"]) @ params["w2"]


def main():
    k1, k2, k3 = jax.random.split(jax.random.key(0), 3)
    params = {"w1": jax.random.normal(k1, (10, 50)), "w2": jax.random.normal(k2, (50, 10))}
    x = jax.random.normal(k3, (15, 10))
    ref = jax.nn.gelu(x @ params["w1"]) @ params["w2"]
    print("max error", jnp.abs(ffn(params, x) - ref).max())


if __name__ == "__main__":
    main()
