# source: JaXRTS/jaxrts#21
# blind: second

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class Score(nnx.Module):
    def __init__(self, dim, *, rngs):
        self.net = nnx.Sequential(nnx.Linear(dim + 1, 32, rngs=rngs), nnx.silu, nnx.Linear(32, dim, rngs=rngs))

    def __call__(self, x, t):
        return self.net(jnp.concatenate([x, t[:, None]], axis=-1))


def make_optimizer(model, rate):
    schedule = optax.cosine_decay_schedule(rate, 100)
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(schedule))
    return nnx.Optimizer(model=model, tx=tx)  # finding


if __name__ == "__main__":
    model = Score(2, rngs=nnx.Rngs(0))
    print(make_optimizer(model, 1e-3), jax.devices()[0])
