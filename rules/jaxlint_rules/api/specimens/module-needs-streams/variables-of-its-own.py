# a module that writes a variable at each call; one that asks first, and one that only reads
import flax.linen as nn
import jax
import jax.numpy as jnp


class Codebook(nn.Module):
    codes: int = 8

    @nn.compact
    def __call__(self, z):
        book = self.variable("codebook", "vectors", lambda: jnp.zeros((self.codes, 4)))
        if not self.is_initializing():
            book.value = 0.9 * book.value + 0.1 * z.mean(0)
        return z + book.value[0]


class Quantized(nn.Module):
    def setup(self):
        self.encode = nn.Dense(4)
        self.quantize = Codebook()

    def __call__(self, x):
        return self.quantize(self.encode(x))


class Counted(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        count = self.variable("counts", "n", lambda: jnp.zeros((), jnp.int32))
        if train:
            count.value += 1
        return x * count.value


class Whitened(nn.Module):
    @nn.compact
    def __call__(self, x):
        mean = self.variable("stats", "mean", jnp.zeros, (4,))
        if self.is_mutable_collection("stats"):
            mean.value = x.mean(0)
        return x - mean.value


class Reader(nn.Module):
    @nn.compact
    def __call__(self, x):
        return x + self.variable("consts", "shift", jnp.zeros, (4,)).value


x = jnp.ones((3, 4))
for model, args in ((Whitened(), ()), (Reader(), ()), (Counted(), (False,))):
    variables = model.init(jax.random.key(0), x, *args)
    print(model.apply(variables, x, *args))

model = Quantized()
variables = model.init(jax.random.key(0), x)
print(model.apply(variables, x, mutable=["codebook"]))
print(model.apply(variables, x, method=lambda m, x: m.encode(x)))
print(model.apply(variables, x))  # finding
