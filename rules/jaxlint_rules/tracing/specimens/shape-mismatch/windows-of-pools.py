# windows of pools, and the features that remain

import jax.numpy as jnp
from flax import nnx

class LeNet(nnx.Module):
    def __init__(self, side, rngs):
        self.first = nnx.Conv(1, 6, kernel_size=(5, 5), padding="VALID", rngs=rngs)
        self.second = nnx.Conv(6, 16, kernel_size=(5, 5), padding="VALID", rngs=rngs)
        self.out = nnx.Linear(16 * side * side, 10, rngs=rngs)

    def __call__(self, x):
        x = nnx.max_pool(nnx.relu(self.first(x)), (2, 2), strides=(2, 2))
        x = nnx.max_pool(nnx.relu(self.second(x)), (2, 2), strides=(2, 2))
        return self.out(x.reshape(x.shape[0], -1))  # finding

images = jnp.zeros((8, 28, 28, 1))
LeNet(5, nnx.Rngs(0))(images)

class Fitting(nnx.Module):
    def __init__(self, rngs):
        self.conv = nnx.Conv(1, 6, kernel_size=(5, 5), rngs=rngs)
        self.out = nnx.Linear(6 * 14 * 14, 10, rngs=rngs)

    def __call__(self, x):
        x = nnx.avg_pool(self.conv(x), (2, 2), strides=(2, 2))
        return self.out(x.reshape(x.shape[0], -1))

Fitting(nnx.Rngs(0))(images)
