# source: google/hypernerf#33
# blind: fifteenth
from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Field(nn.Module):
    bands: np.ndarray  # finding-also
    width: int = 8

    @nn.compact
    def __call__(self, x):
        angles = x[..., None] * self.bands
        feats = jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], axis=-1)
        h = nn.relu(nn.Dense(self.width)(feats.reshape(*x.shape[:-1], -1)))
        return nn.Dense(4)(h)


@partial(jax.jit, static_argnums=(0,))  # finding-also
def render(model, params, rays):
    rgba = model.apply(params, rays)
    return jax.nn.sigmoid(rgba[..., :3]), jax.nn.relu(rgba[..., 3])


def main():
    model = Field(bands=2.0 ** np.arange(4))
    rays = jnp.ones((5, 3))
    params = model.init(jax.random.key(0), rays)
    colour, density = render(model, params, rays)  # finding
    print(colour.shape, density.shape)


if __name__ == "__main__":
    main()
