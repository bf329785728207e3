# blind: every clause

import functools

import jax
import jax.numpy as jnp


def host_only(fn):
    @functools.wraps(fn)
    def wrapper(x):
        out = jax.pure_callback(lambda a: fn(a), jax.ShapeDtypeStruct(x.shape, x.dtype), x)
        return out

    return wrapper


@host_only
def project(x):
    if x.sum() > 1:
        return x / float(x.sum())
    return x


print(jax.jit(project)(jnp.ones(3)))
