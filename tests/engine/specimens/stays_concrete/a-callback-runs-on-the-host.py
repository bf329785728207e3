# a callback runs on the host
import jax
import jax.numpy as jnp
import numpy as np

def check(x):
    if x.max() > 10:
        raise ValueError(f"too big: {float(x.max()):.2f}")
    return np.float32(np.sqrt(x).sum())

@jax.jit
def step(x):
    jax.debug.callback(lambda v: print(v.item() if v.ndim == 0 else v.tolist()), x)
    return jax.pure_callback(check, jax.ShapeDtypeStruct((), jnp.float32), x)

step(jnp.ones(3))
