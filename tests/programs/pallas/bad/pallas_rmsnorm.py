# source: jax-ml/jax-triton#44
# blind: nineteenth

import functools

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def rmsnorm_kernel(x_ref, g_ref, o_ref, *, eps):
    x = x_ref[...]
    ms = jnp.mean(x * x, axis=-1, keepdims=True)
    o_ref[...] = x * jax.lax.rsqrt(ms + eps) * g_ref[...]


@functools.partial(jax.jit, static_argnames=("block_rows", "eps"))
def rmsnorm(x, gain, block_rows=8, eps=1e-6):
    rows, cols = x.shape
    return pl.pallas_call(
        functools.partial(rmsnorm_kernel, eps=eps),
        grid=(rows // block_rows,),
        in_specs=[
            pl.BlockSpec((block_rows, cols), lambda i: (i * block_rows, 0)),  # finding
            pl.BlockSpec((1, cols), lambda i: (0, 0)),
        ],
        out_specs=pl.BlockSpec((block_rows, cols), lambda i: (i, 0)),
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        interpret=True,
    )(x, gain[None, :])


def rmsnorm_reference(x, gain, eps=1e-6):
    ms = jnp.mean(x * x, axis=-1, keepdims=True)
    return x * jax.lax.rsqrt(ms + eps) * gain


def feed_forward(params, x, norm):
    h = norm(x, params["gain"])
    return x + jax.nn.silu(h @ params["up"]) @ params["down"]


def main():
    k_x, k_u, k_d = jax.random.split(jax.random.key(0), 3)
    x = jax.random.normal(k_x, (64, 128))
    params = {
        "gain": jnp.linspace(0.5, 1.5, 128),
        "up": jax.random.normal(k_u, (128, 256)) * 128 ** -0.5,
        "down": jax.random.normal(k_d, (256, 128)) * 256 ** -0.5,
    }
    fast = feed_forward(params, x, rmsnorm)
    slow = feed_forward(params, x, rmsnorm_reference)
    per_row = jnp.max(jnp.abs(fast - slow), axis=-1)
    print("max error", float(per_row.max()), "rows off", int((per_row > 1e-4).sum()), "of", x.shape[0])


if __name__ == "__main__":
    main()
