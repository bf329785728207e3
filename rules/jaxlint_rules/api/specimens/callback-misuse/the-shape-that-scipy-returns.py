# the shape that SciPy returns

import jax
import jax.numpy as jnp
import numpy as np
import scipy.ndimage
import scipy.signal
import scipy.special
from scipy.spatial.distance import cdist

def host_smooth(image):
    return scipy.ndimage.gaussian_filter(np.asarray(image), 1.5).astype(image.dtype)

def host_filter(signal, taps):
    return scipy.signal.convolve(np.asarray(signal), np.asarray(taps)).astype(np.float32)

def host_distances(x, y):
    return cdist(np.asarray(x), np.asarray(y)).astype(np.float32)

def host_total(x):
    return scipy.special.logsumexp(np.asarray(x), axis=-1).astype(np.float32)

@jax.jit
def wrong(signal, taps, x, y):
    filtered = jax.pure_callback(host_filter, jax.ShapeDtypeStruct(signal.shape, signal.dtype), signal, taps)  # finding
    square = jax.ShapeDtypeStruct((x.shape[0], x.shape[0]), x.dtype)
    apart = jax.pure_callback(host_distances, square, x, y)  # finding
    total = jax.pure_callback(host_total, jax.ShapeDtypeStruct((), x.dtype), x)  # finding
    return filtered, apart, total

@jax.jit
def right(image, signal, taps, x, y):
    smooth = jax.pure_callback(host_smooth, jax.ShapeDtypeStruct(image.shape, image.dtype), image)
    full = jax.ShapeDtypeStruct((signal.shape[0] + taps.shape[0] - 1,), signal.dtype)
    filtered = jax.pure_callback(host_filter, full, signal, taps)
    apart = jax.pure_callback(host_distances, jax.ShapeDtypeStruct((x.shape[0], y.shape[0]), x.dtype), x, y)
    return smooth, filtered, apart, jax.pure_callback(host_total, jax.ShapeDtypeStruct((5,), x.dtype), x)

signal, taps, x, y = jnp.ones(20), jnp.ones(3), jnp.ones((5, 2)), jnp.ones((7, 2))
print([part.shape for part in right(jnp.ones((8, 8)), signal, taps, x, y)])
wrong(signal, taps, x, y)
