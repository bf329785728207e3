import flax.linen as nn
import jax
import jax.numpy as jnp


class Coder(nn.Module):
    def setup(self):
        self.encoder = nn.Dense(8)
        self.first = nn.Dropout(0.1)
        self.decoder = nn.Dense(8)
        self.second = nn.Dropout(0.1)

    def encode(self, x):
        return self.first(self.encoder(x), deterministic=False)

    def decode(self, z):
        return self.second(self.decoder(z), deterministic=False)

    def __call__(self, x):
        return self.decode(self.encode(x))


model = Coder()


@jax.jit
def loss(params, x, key):
    rngs = {"dropout": key}
    z = model.apply({"params": params}, x, method=model.encode, rngs=rngs)
    y = model.apply({"params": params}, z, method=Coder.decode, rngs=rngs)
    return jnp.mean((y - x) ** 2)


def main():
    start, dropout = jax.random.split(jax.random.key(0))
    x = jnp.ones((4, 8))
    return loss(model.init({"params": start, "dropout": dropout}, x)["params"], x, jax.random.fold_in(dropout, 1))
