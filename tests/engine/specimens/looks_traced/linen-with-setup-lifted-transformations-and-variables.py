# linen with setup, lifted transformations and variables
import flax.linen as nn
import jax
import jax.numpy as jnp

class Block(nn.Module):
    features: int
    dropout: float = 0.0
    act: str = "relu"

    @nn.compact
    def __call__(self, x, deterministic: bool = True):
        kernel = self.param("kernel", nn.initializers.lecun_normal(), (x.shape[-1], self.features))
        count = self.variable("stats", "count", lambda: jnp.zeros((), jnp.int32))
        if not self.is_initializing() and self.is_mutable_collection("stats"):
            count.value = count.value + 1
        x = x @ kernel
        x = getattr(nn, self.act)(x)
        if self.dropout > 0 and not deterministic:
            x = nn.Dropout(self.dropout)(x, deterministic=deterministic)
        return x

class Stack(nn.Module):
    depth: int = 2
    remat: bool = True

    def setup(self):
        block = nn.remat(Block, static_argnums=(2,)) if self.remat else Block
        self.blocks = [block(4, name=f"block_{i}") for i in range(self.depth)]
        self.head = nn.Dense(1)

    def __call__(self, x, deterministic=True):
        for i, block in enumerate(self.blocks):
            y = block(x, deterministic)
            x = x + y if i and x.shape == y.shape else y
        return self.head(x)

class Scanned(nn.Module):
    @nn.compact
    def __call__(self, x):
        def body(layer, carry, _):
            return layer(carry), None

        scan = nn.scan(
            body, variable_axes={"params": 0, "stats": 0}, split_rngs={"params": True}, length=3
        )
        x, _ = scan(Block(x.shape[-1]), x, None)
        return x

x = jnp.ones((2, 4))
for model in (Stack(), Scanned()):
    variables = model.init(jax.random.key(0), x)
    y, updates = jax.jit(lambda v, x: model.apply(v, x, mutable=["stats"]))(variables, x)
    if y.sum() > 0 and "stats" in updates:
        print(float(y.sum()))
