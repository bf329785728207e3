# what stands for arrays in eval_shape and lower is traced
import jax
import jax.numpy as jnp

def rows(x):
    if x.ndim > 1 and x.shape[0] > 2:
        x = x * 2
    return x

def positive(params):
    if params["w"].sum() > 0:  # finding: tracer-branch
        return params
    return None

spec = jax.ShapeDtypeStruct((3, 2), jnp.float32)
jax.jit(rows).lower(spec)
jax.eval_shape(rows, spec)
jax.eval_shape(positive, {"w": spec})
