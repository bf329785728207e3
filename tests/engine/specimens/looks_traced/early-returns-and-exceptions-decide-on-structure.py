# early returns and exceptions decide on structure
import jax
import jax.numpy as jnp

def validate(x):
    if not isinstance(x, jax.Array):
        raise TypeError("not an array")
    if x.ndim == 0:
        return x[None]
    try:
        rows, columns = x.shape
    except ValueError:
        rows, columns = x.shape[0], 1
    else:
        if rows > columns:
            x = x.T
    finally:
        pass
    if rows * columns > 100:
        return x[:10]
    return x

@jax.jit
def f(x):
    return validate(x)

f(jnp.ones((3, 2)))
f(jnp.ones(()))
