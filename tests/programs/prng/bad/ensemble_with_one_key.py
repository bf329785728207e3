# source: google/flax#2131
# blind: first
# missed: not found yet

import flax.linen as nn
import jax
import jax.numpy as jnp


class Net(nn.Module):
    width: int = 16

    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.tanh(nn.Dense(self.width)(x)))


net = Net()


def init_ensemble(key, example, members):
    key = jnp.broadcast_to(key, (members,) + key.shape)  # finding-also
    return jax.vmap(net.init, in_axes=(0, None))(key, example)  # finding


def predict(params, x):
    out = jax.vmap(net.apply, in_axes=(0, None))(params, x)
    return out.mean(0), out.std(0)


if __name__ == "__main__":
    ps = init_ensemble(jax.random.PRNGKey(0), jnp.ones((1, 3)), 5)
    print(predict(ps, jnp.ones((2, 3)))[1])
