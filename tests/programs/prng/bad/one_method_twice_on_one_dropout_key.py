import flax.linen as nn
import jax
import jax.numpy as jnp


class Coder(nn.Module):
    def setup(self):
        self.encoder = nn.Dense(8)
        self.dropout = nn.Dropout(0.5)

    def encode(self, x):
        return self.dropout(self.encoder(x), deterministic=False)

    def __call__(self, x):
        return self.encode(x)


model = Coder()


@jax.jit
def contrast(params, x, key):
    one = model.apply({"params": params}, x, method=model.encode, rngs={"dropout": key})
    other = model.apply({"params": params}, x, method="encode", rngs={"dropout": key})  # finding
    return jnp.mean((one - other) ** 2)


def main():
    start, dropout = jax.random.split(jax.random.key(0))
    x = jnp.ones((4, 8))
    return contrast(model.init({"params": start, "dropout": dropout}, x)["params"], x, jax.random.fold_in(dropout, 1))
