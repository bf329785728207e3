# string building and logging from static facts
import logging

import jax
import jax.numpy as jnp

log = logging.getLogger(__name__)

@jax.jit
def f(x, y=None):
    log.info("tracing with %s of %d", x.dtype, x.shape[0])
    name = f"{x.shape[0]:03d}x{x.ndim}"
    text = "shape {} {:d}".format(x.shape, x.ndim)
    print(name, text)
    print(f"{x=}", str(x)[:10])  # finding: impure-call
    if name.startswith("003") and len(text) > 3:
        x = x + 1
    if x.ndim not in (1, 2):
        raise ValueError(f"expected one or two dimensions, not {x.ndim}: {x}")
    assert x.shape[0] > 1, f"too short: {x}"
    return x

f(jnp.ones(3))
