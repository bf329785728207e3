# source: jax-ml/jax#20628

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback


class Simulator:
    """A black box that lives in Python."""

    def __init__(self):
        self.calls = 0

    def __call__(self, theta):
        self.calls += 1
        return np.asarray(np.sum(np.asarray(theta) ** 2), np.float32)


def make_loglik(sim):
    def loglik(theta):
        out = jax.ShapeDtypeStruct((), jnp.float32)
        return -0.5 * io_callback(sim, out, theta, ordered=True)  # finding-also

    return loglik


def particle_weights(sim, particles):
    loglik = make_loglik(sim)
    return jax.nn.softmax(jax.vmap(loglik)(particles))  # finding


if __name__ == "__main__":
    print(particle_weights(Simulator(), jnp.ones((5, 2))))
