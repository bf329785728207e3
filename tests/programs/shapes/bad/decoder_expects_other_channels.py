# blind: eleventh

"""Nnx: the decoder is made for another width."""
import jax
import jax.numpy as jnp
from flax import nnx


class Encoder(nnx.Module):
    def __init__(self, rngs):
        self.conv1 = nnx.Conv(3, 16, kernel_size=(3, 3), strides=2, rngs=rngs)
        self.conv2 = nnx.Conv(16, 32, kernel_size=(3, 3), strides=2, rngs=rngs)
        self.norm = nnx.LayerNorm(32, rngs=rngs)

    def __call__(self, x):
        h = nnx.gelu(self.conv1(x))
        return self.norm(nnx.gelu(self.conv2(h)))


class Head(nnx.Module):
    def __init__(self, features, classes, rngs):
        self.hidden = nnx.Linear(features, 128, rngs=rngs)
        self.out = nnx.Linear(128, classes, rngs=rngs)

    def __call__(self, h):
        h = h.reshape(h.shape[0], -1)
        return self.out(nnx.relu(self.hidden(h)))  # finding


class Classifier(nnx.Module):
    def __init__(self, rngs):
        self.encoder = Encoder(rngs)
        self.head = Head(32 * 7 * 7, 10, rngs)

    def __call__(self, x):
        return self.head(self.encoder(x))


if __name__ == "__main__":
    model = Classifier(nnx.Rngs(0))
    print(nnx.jit(lambda m, x: m(x))(model, jnp.ones((4, 32, 32, 3))).shape)
