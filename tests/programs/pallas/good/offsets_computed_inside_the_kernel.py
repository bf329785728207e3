# source: jax-ml/jax-triton#44
# blind: sixth

"""Position-dependent damping."""
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

BLOCK = 16
RATE = 0.01


def damp_kernel(x_ref, o_ref):
    start = pl.program_id(0) * BLOCK
    position = start + jax.lax.broadcasted_iota(jnp.int32, (BLOCK, 1), 0)
    o_ref[...] = x_ref[...] * jnp.exp(-RATE * position.astype(x_ref.dtype))


@jax.jit
def damp(x):
    rows, cols = x.shape
    spec = pl.BlockSpec((BLOCK, cols), lambda i: (i, 0))
    return pl.pallas_call(
        damp_kernel,
        grid=(rows // BLOCK,),
        in_specs=[spec],
        out_specs=spec,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        interpret=True,
    )(x)


if __name__ == "__main__":
    print(damp(jnp.ones((64, 2)))[::16])
