# blind: tenth

import jax
import jax.numpy as jnp
from flax import nnx


class Policy(nnx.Module):
    def __init__(self, rngs):
        self.body = nnx.Linear(4, 16, rngs=rngs)
        self.norm = nnx.BatchNorm(16, rngs=rngs)
        self.head = nnx.Linear(16, 2, rngs=rngs)

    def __call__(self, x):
        return self.head(jax.nn.relu(self.norm(self.body(x))))


def make_act(policy):
    @jax.jit
    def act(obs):
        return jnp.argmax(policy(obs), axis=-1)  # finding

    return act


act = make_act(Policy(nnx.Rngs(0)))
print(act(jnp.ones((8, 4))))
