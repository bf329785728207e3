# blind: eleventh
import equinox as eqx
import jax
import jax.numpy as jnp


class Mixer(eqx.Module):
    tokens: eqx.nn.Linear
    channels: eqx.nn.Linear
    norm: eqx.nn.LayerNorm

    def __init__(self, patches, width, key):
        k1, k2 = jax.random.split(key)
        self.tokens = eqx.nn.Linear(patches, patches, key=k1)
        self.channels = eqx.nn.Linear(width, width, key=k2)
        self.norm = eqx.nn.LayerNorm(width)

    def __call__(self, x):
        h = jax.vmap(self.norm)(x)
        x = x + jax.vmap(self.tokens, in_axes=1, out_axes=1)(h)
        return x + jax.vmap(self.channels)(x)


if __name__ == "__main__":
    model = Mixer(9, 16, jax.random.key(0))
    print(jax.vmap(model)(jnp.ones((4, 9, 16))).shape)
