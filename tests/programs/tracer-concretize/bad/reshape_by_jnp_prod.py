# source: jax-ml/jax#5373

import flax.linen as nn
import jax
import jax.numpy as jnp


class Flatten(nn.Module):
    @nn.compact
    def __call__(self, x):
        features = jnp.prod(jnp.array(x.shape[1:]))
        return x.reshape(x.shape[0], features)  # finding


class Encoder(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Conv(4, (3, 3))(x))
        x = Flatten()(x)
        return nn.Dense(self.width)(x)


model = Encoder(8)
x = jnp.ones((2, 6, 6, 1))


@jax.jit
def init(key):
    return model.init(key, x)


print(jax.tree.map(jnp.shape, init(jax.random.PRNGKey(0))))
