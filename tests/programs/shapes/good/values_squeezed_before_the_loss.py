# blind: tenth

import flax.linen as nn
import jax
import jax.numpy as jnp


class Critic(nn.Module):
    @nn.compact
    def __call__(self, obs):
        return nn.Dense(1)(nn.tanh(nn.Dense(64)(obs)))[..., 0]


critic = Critic()


@jax.jit
def value_loss(params, obs, returns):
    return jnp.mean((returns - critic.apply(params, obs)) ** 2)


obs = jnp.ones((128, 8))
params = critic.init(jax.random.key(0), obs)
print(jax.grad(value_loss)(params, obs, jnp.ones(128))["params"].keys())
