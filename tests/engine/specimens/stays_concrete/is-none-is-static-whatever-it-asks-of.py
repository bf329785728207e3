# is None is static, whatever it asks of
import jax
import jax.numpy as jnp

@jax.jit
def attend(q, mask=None, bias=None):
    if mask is not None:
        q = jnp.where(mask, q, -1e9)
    if bias is None:
        bias = jnp.zeros_like(q)
    scale = 1.0 if mask is None else 2.0
    assert q is not None
    return scale * q + bias

attend(jnp.ones(3))
attend(jnp.ones(3), jnp.array([True, False, True]))
