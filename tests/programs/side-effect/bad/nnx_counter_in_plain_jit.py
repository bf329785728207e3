# source: google/flax#3997
# blind: first

import jax
import jax.numpy as jnp
from flax import nnx


class Count(nnx.Variable):
    pass


class Meter(nnx.Module):
    def __init__(self, dim, *, rngs):
        self.dense = nnx.Linear(dim, dim, rngs=rngs)
        self.calls = Count(jnp.array(0))

    def __call__(self, x):
        self.calls.value = self.calls.value + 1  # finding-also
        return self.dense(x)


model = Meter(4, rngs=nnx.Rngs(0))


@jax.jit
def forward(x):
    return model(x)  # finding


if __name__ == "__main__":
    print(forward(jnp.ones((2, 4))))
