# two states of training whose modules give different things
import flax.linen as nn
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState

class Policy(nn.Module):
    @nn.compact
    def __call__(self, x, rng):
        return nn.Dense(3)(x), x.sum()

class Value(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(x)

def run(rng, x):
    policy, value = Policy(), Value()
    actor = TrainState.create(
        apply_fn=policy.apply, params=policy.init(rng, x, rng), tx=optax.sgd(0.1)
    )
    critic = TrainState.create(apply_fn=value.apply, params=value.init(rng, x), tx=optax.sgd(0.1))
    _, total = actor.apply_fn(actor.params, x, rng)
    return total + jnp.exp(critic.apply_fn(critic.params, x)).sum()
