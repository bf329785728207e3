# targets in which a column of values and a row of rewards meet, compared in another function

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Critic(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.relu(nn.Dense(64)(x)))


class Gate(nn.Module):
    @nn.compact
    def __call__(self, x):
        weights = self.param("weights", nn.initializers.ones, (16,))
        every = nn.Dense(1)(x) * weights  # each example with each weight
        return jnp.mean((nn.Dense(16)(x) - every) ** 2)


critic, gate = Critic(), Gate()


def mse(a, b):
    return jnp.mean((a - b) ** 2)


@jax.jit
def targets(params, observations, rewards):
    return rewards + 0.99 * critic.apply(params, observations)  # finding


@jax.jit
def squeezed(params, observations, rewards):
    return rewards + 0.99 * critic.apply(params, observations)[:, 0]


@jax.jit
def column(params, observations, rewards):
    return rewards[:, None] + 0.99 * critic.apply(params, observations)


@jax.jit
def step(params, observations, wanted):
    def loss(params):
        return mse(critic.apply(params, observations).squeeze(-1), wanted)

    return jax.grad(loss)(params)


@jax.jit
def step_of_columns(params, observations, wanted):
    return jax.grad(lambda params: mse(critic.apply(params, observations), wanted))(params)


rng = np.random.default_rng(0)
observations = rng.normal(size=(16, 4)).astype(np.float32)
rewards = rng.normal(size=16).astype(np.float32)
params = critic.init(jax.random.key(0), observations)
params = step(params, observations, targets(params, observations, rewards))
params = step(params, observations, squeezed(params, observations, rewards))
params = step_of_columns(params, observations, column(params, observations, rewards))
print(gate.init_with_output(jax.random.key(1), rng.normal(size=(16, 16)))[0])
