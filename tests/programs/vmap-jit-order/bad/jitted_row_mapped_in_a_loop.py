# source: jax-ml/jax#4085
# blind: second

import equinox as eqx
import jax
import jax.numpy as jnp


class Critic(eqx.Module):
    net: eqx.nn.MLP

    def __init__(self, key):
        self.net = eqx.nn.MLP(3, "scalar", 32, 2, key=key)

    @jax.jit
    def value(self, obs):
        return self.net(obs)


def discounted(rewards, discount):
    def body(carry, reward):
        carry = reward + discount * carry
        return carry, carry

    return jax.lax.scan(body, 0.0, rewards, reverse=True)[1]


discounted_jit = jax.jit(discounted)


def advantages(values, episodes, discount):
    out = []
    for rewards, value in zip(episodes, values, strict=True):
        returns = jax.vmap(discounted_jit, in_axes=(0, None))(rewards, discount)  # finding
        out.append(returns - value)
    return jnp.stack(out)


def main():
    episodes = list(jax.random.normal(jax.random.key(0), (10, 4, 20)))
    values = list(jnp.zeros((10, 4, 20)))
    print(advantages(values, episodes, 0.99).shape)


if __name__ == "__main__":
    main()
