# numpy on static things, and functions that call the array's method
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def f(x):
    idx = np.arange(x.shape[0])
    n = np.prod(x.shape)
    mask = np.zeros(x.shape)
    mask[0] = 1
    y = np.sum(x) + np.mean(x, axis=0) + np.max(x)
    y = np.squeeze(np.reshape(x, (1, -1))) * n
    return (x * mask)[idx] + y.sum() + np.shape(x)[0] + np.pi

f(jnp.ones(4))
