import jax.numpy as jnp


def fuse(audio, video):
    return jnp.concatenate([audio, video], axis=-1)  # finding


audio = jnp.zeros((8, 100, 64))
video = jnp.zeros((8, 25, 512))
print(fuse(audio, video).shape)
