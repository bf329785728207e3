# source: pytorch/xla#8469
# blind: eighth

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def add_kernel(x_ref, y_ref, o_ref):
    o_ref[...] = x_ref[...] + y_ref[...]


@jax.jit
def add(x, y):
    m, n = x.shape
    spec = pl.BlockSpec((8, 16), lambda i: (i, 0))  # finding
    return pl.pallas_call(  # finding-also
        add_kernel,
        grid=(m // 8, n // 16),  # finding-also
        in_specs=[spec, spec],
        out_specs=spec,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        interpret=True,
    )(x, y)


if __name__ == "__main__":
    print(add(jnp.ones((16, 32)), jnp.ones((16, 32))).sum())
