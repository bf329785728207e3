import jax.numpy as jnp


def smooth(signal):
    """A moving difference beside the signal."""
    diff = signal[:, 1:] - signal[:, :-1]
    return signal + diff  # finding


print(smooth(jnp.ones((4, 16))))
