import jax.numpy as jnp


def smooth(signal):
    diff = jnp.pad(signal[:, 1:] - signal[:, :-1], ((0, 0), (0, 1)))
    return signal + diff


def shift(x):
    return jnp.concatenate([x[:, :1], x[:, :-1]], axis=1) - x


print(smooth(jnp.ones((4, 16))), shift(jnp.ones((4, 16))))
