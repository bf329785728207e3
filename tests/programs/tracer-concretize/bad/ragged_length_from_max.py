# source: google/flax#1195
# blind: first

import flax.linen as nn
import jax
import jax.numpy as jnp


def padding_mask(lengths):
    positions = jnp.arange(lengths.max())  # finding
    return positions[None, :] < lengths[:, None]


class Pooler(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x, lengths):
        mask = padding_mask(lengths)
        h = nn.Dense(self.features)(x)
        return jnp.sum(h * mask[..., None], axis=1) / lengths[:, None]


model = Pooler(8)


@jax.jit
def encode(params, x, lengths):
    return model.apply(params, x, lengths)


if __name__ == "__main__":
    x = jnp.ones((2, 5, 3))
    lengths = jnp.array([5, 2])
    params = model.init(jax.random.key(0), x, lengths)
    print(encode(params, x, lengths).shape)
