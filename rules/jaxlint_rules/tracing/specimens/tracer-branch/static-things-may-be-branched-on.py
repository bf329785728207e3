# static things may be branched on

from functools import partial
import jax
import jax.numpy as jnp

USE_BIAS = True

@partial(jax.jit, static_argnames=("mode",))
def layer(x, w, mode, bias=None):
    if mode == "relu":
        x = jnp.maximum(x, 0)
    if bias is not None:
        x = x + bias
    if USE_BIAS and x.ndim == 2 and x.shape[0] > 1:
        x = x[1:]
    if isinstance(w, tuple) or len(x) > 3:
        x = x * 2
    return x @ w if x.dtype == jnp.float32 else x
