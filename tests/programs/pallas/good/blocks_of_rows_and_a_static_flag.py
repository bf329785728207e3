# blind: seventeenth

"""A rematerialised block with a static flag, and a kernel by blocks."""
import flax.linen as nn
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

ROWS = 8


def scale_kernel(x_ref, s_ref, o_ref):
    o_ref[...] = x_ref[...] * s_ref[...]


def scale_rows(x, s):
    rows, dim = x.shape
    return pl.pallas_call(
        scale_kernel,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(rows // ROWS,),
        in_specs=[
            pl.BlockSpec((ROWS, dim), lambda i: (i, 0)),
            pl.BlockSpec((1, dim), lambda i: (0, 0)),
        ],
        out_specs=pl.BlockSpec((ROWS, dim), lambda i: (i, 0)),
        interpret=jax.default_backend() == "cpu",
    )(x, s[None])


class Block(nn.Module):
    dim: int

    @nn.compact
    def __call__(self, x, train):
        h = nn.gelu(nn.Dense(2 * self.dim)(nn.LayerNorm()(x)))
        if train:
            h = nn.Dropout(0.1, deterministic=False)(h)
        return x + nn.Dense(self.dim)(h)


class Encoder(nn.Module):
    dim: int = 32
    layers: int = 3

    @nn.compact
    def __call__(self, x, train=False):
        block = nn.remat(Block, static_argnums=(2,))
        for i in range(self.layers):
            x = block(self.dim, name=f"block_{i}")(x, train)
        return nn.Dense(4)(x)


def main():
    x = jax.random.normal(jax.random.key(1), (16, 32))
    x = scale_rows(x, jnp.full(32, 0.5))
    model = Encoder()
    params = model.init(jax.random.key(0), x)

    def loss(params, key):
        return jnp.mean(model.apply(params, x, True, rngs={"dropout": key}) ** 2)

    grads = jax.jit(jax.grad(loss))(params, jax.random.key(2))
    print(jax.tree.map(jnp.shape, grads))


if __name__ == "__main__":
    main()
