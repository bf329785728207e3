# modules that hold their weights

import equinox as eqx
import jax
import jax.numpy as jnp
from flax import nnx

class Policy(eqx.Module):
    torso: eqx.nn.MLP
    heads: list

    def __init__(self, width, key):
        self.torso = eqx.nn.MLP(8, width, width, 3, key=key)
        self.heads = [eqx.nn.Linear(width, 2, key=k) for k in jax.random.split(key, 2)]

    def __call__(self, x):
        h = self.torso(x)
        return [head(h) for head in self.heads]

def make_act(policy):
    @jax.jit
    def act(obs):
        return jax.vmap(policy)(obs)  # finding
    return act

def make_small(policy):
    return jax.jit(lambda obs: jax.vmap(policy)(obs))

@jax.jit
def passed(policy, obs):
    return jax.vmap(policy)(obs)

def make_parted(policy):
    weights, rest = eqx.partition(policy, eqx.is_array)
    forward = jax.jit(lambda weights, obs: jax.vmap(eqx.combine(weights, rest))(obs))
    return lambda obs: forward(weights, obs)

policy = Policy(512, jax.random.key(0))
act, small, parted = make_act(policy), make_small(Policy(16, jax.random.key(0))), make_parted(policy)
embed = nnx.Embed(10_000, 64, rngs=nnx.Rngs(0))
look_up = jax.jit(lambda ids: embed(ids))  # finding
batched = jax.jit(jax.vmap(eqx.nn.Linear(512, 512, key=jax.random.key(1))))  # finding
traced = eqx.filter_jit(eqx.nn.Linear(512, 512, key=jax.random.key(1)))
print(passed(policy, jnp.ones((3, 8))))
