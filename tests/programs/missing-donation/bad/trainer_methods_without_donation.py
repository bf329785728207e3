# source: poets-ai/elegy#226
# blind: third

import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax import struct


class Mlp(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.relu(nn.Dense(512)(x)))


@struct.dataclass
class Bundle:
    params: dict
    opt_state: optax.OptState
    steps: jax.Array


class Trainer:
    def __init__(self, net, tx):
        self.net, self.tx = net, tx
        self._update = jax.jit(self.update)  # finding

    def start(self, key, x):
        params = self.net.init(key, x)
        return Bundle(params, self.tx.init(params), jnp.int32(0))

    def update(self, bundle, x, y):
        def objective(params):
            return jnp.mean((self.net.apply(params, x) - y) ** 2)

        loss, grads = jax.value_and_grad(objective)(bundle.params)
        updates, opt_state = self.tx.update(grads, bundle.opt_state)
        params = optax.apply_updates(bundle.params, updates)
        return bundle.replace(params=params, opt_state=opt_state, steps=bundle.steps + 1), loss

    def fit(self, bundle, data):
        for x, y in data:
            bundle, loss = self._update(bundle, x, y)
        return bundle, loss


if __name__ == "__main__":
    trainer = Trainer(Mlp(), optax.adam(1e-3))
    x, y = jnp.ones((8, 4)), jnp.ones((8, 1))
    print(trainer.fit(trainer.start(jax.random.key(0), x), [(x, y)] * 3)[1])
