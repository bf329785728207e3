# blind: thirteenth

import jax
import jax.numpy as jnp
from flax import nnx


class LeNet(nnx.Module):
    def __init__(self, rngs):
        self.conv1 = nnx.Conv(1, 6, kernel_size=(5, 5), padding="VALID", rngs=rngs)
        self.conv2 = nnx.Conv(6, 16, kernel_size=(5, 5), padding="VALID", rngs=rngs)
        self.fc = nnx.Linear(16 * 5 * 5, 84, rngs=rngs)
        self.out = nnx.Linear(84, 10, rngs=rngs)

    def __call__(self, x):
        x = nnx.max_pool(nnx.relu(self.conv1(x)), (2, 2), strides=(2, 2))
        x = nnx.max_pool(nnx.relu(self.conv2(x)), (2, 2), strides=(2, 2))
        x = x.reshape(x.shape[0], -1)
        x = nnx.relu(self.fc(x))  # finding
        return self.out(x)


def main():
    model = LeNet(nnx.Rngs(0))
    images = jnp.zeros((8, 28, 28, 1))
    print(model(images).shape)


if __name__ == "__main__":
    main()
