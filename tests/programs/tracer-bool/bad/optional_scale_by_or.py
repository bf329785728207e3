# source: google/flax#2750
# blind: first

import flax.linen as nn
import jax
import jax.numpy as jnp


class Scaled(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x, temperature=None):
        temperature = temperature or 1.0  # finding
        return nn.softmax(nn.Dense(self.features)(x) / temperature)


class Policy(nn.Module):
    actions: int

    @nn.compact
    def __call__(self, obs, temperature=None):
        return Scaled(self.actions)(nn.relu(nn.Dense(8)(obs)), temperature)


policy = Policy(3)


@jax.jit
def act(params, obs, temperature):
    return policy.apply(params, obs, temperature)


if __name__ == "__main__":
    obs = jnp.ones((1, 4))
    print(act(policy.init(jax.random.key(0), obs), obs, 0.5))
