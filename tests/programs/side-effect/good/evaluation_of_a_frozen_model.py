# blind: tenth

import jax
import jax.numpy as jnp
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.dense = nnx.Linear(4, 8, rngs=rngs)
        self.norm = nnx.BatchNorm(8, rngs=rngs)

    def __call__(self, x):
        return self.norm(self.dense(x))


model = Net(nnx.Rngs(0))
model.eval()


@jax.jit
def predict(x):
    return model(x)


print(predict(jnp.ones((2, 4))).shape)
