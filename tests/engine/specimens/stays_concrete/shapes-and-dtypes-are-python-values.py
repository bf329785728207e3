# shapes and dtypes are Python values
import math

import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def f(x):
    b, t = x.shape
    total = jnp.zeros(())
    for i in range(t // 2):
        total = total + x[0, i]
    if b > 1 and x.ndim == 2 and x.dtype == jnp.float32:
        total = total * b
    scale = 1 / np.sqrt(x.shape[-1]) + math.sqrt(t)
    n = int(np.prod(x.shape))
    y = x.reshape(n // t, -1)
    while t > 1:
        t //= 2
    if len(x) > 1 or x.size % 2:
        y = y[: len(x) // 2]
    pad = jnp.zeros((max(b, t), x.shape[1]))
    return total * scale * float(n) + y.sum() + pad.sum()

f(jnp.ones((2, 6)))
