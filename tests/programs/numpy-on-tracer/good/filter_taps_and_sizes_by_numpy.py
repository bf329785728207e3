# blind: every clause

import jax
import jax.numpy as jnp
import numpy as np
from scipy import signal


class Filt:
    def __init__(self, order):
        b, a = signal.butter(order, 0.2)
        self.b = np.asarray(b, np.float32)
        self.dims = np.array([2, 2])

    @staticmethod
    def host(x):
        return np.median(x).astype(np.float32)

    def __call__(self, x):
        y = jnp.convolve(x, self.b, mode="same")
        n = int(np.prod(self.dims)) + int(np.ceil(x.shape[0] / 2)) + x.size
        m = jax.pure_callback(self.host, jax.ShapeDtypeStruct((), jnp.float32), x)
        w = np.hanning(x.shape[-1])
        return y * w + m + np.log(n) + np.float32(1.0) * y + np.pi


print(jax.jit(Filt(2))(jnp.ones(8)))
