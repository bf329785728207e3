# blind: eleventh
import jax
import jax.numpy as jnp
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.conv1 = nnx.Conv(3, 16, kernel_size=(3, 3), strides=2, rngs=rngs)
        self.conv2 = nnx.Conv(16, 32, kernel_size=(3, 3), strides=2, padding="VALID", rngs=rngs)
        self.out = nnx.Linear(32 * 7 * 7, 10, rngs=rngs)

    def __call__(self, x):
        h = nnx.relu(self.conv2(nnx.relu(self.conv1(x))))
        return self.out(h.reshape(h.shape[0], -1))


if __name__ == "__main__":
    print(nnx.jit(lambda m, x: m(x))(Net(nnx.Rngs(0)), jnp.ones((4, 32, 32, 3))).shape)
