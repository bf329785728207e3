# source: google/flax#2920
# blind: first

import flax.linen as nn
import jax
import jax.numpy as jnp


class Tagger(nn.Module):
    hidden: int

    @nn.compact
    def __call__(self, x):
        for i, width in enumerate((self.hidden, self.hidden // 2, 4)):
            x = nn.relu(nn.Dense(width, name=f"dense_{i}")(x))
        return nn.RNN(nn.GRUCell(self.hidden))(x)


@jax.jit
def runge_kutta(y, dt):
    k = jnp.zeros_like(y)
    total = 0.0
    for c, w in ((0.0, 1), (0.5, 2), (0.5, 2), (1.0, 1)):
        k = jnp.sin(y + c * dt * k)
        total = total + w * k
    return y + dt / 6 * total


@jax.jit
def features(x):
    return jnp.stack([jnp.sin(k * x) for k in range(4)], -1)


if __name__ == "__main__":
    m = Tagger(8)
    x = jnp.ones((1, 5, 3))
    print(m.apply(m.init(jax.random.key(0), x), x).shape, runge_kutta(jnp.ones(2), 0.1), features(jnp.ones(2)))
