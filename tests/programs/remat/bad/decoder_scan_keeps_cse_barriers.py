# source: google/maxtext#1025
# blind: seventh

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp


class DecoderLayer(nn.Module):
    dim: int

    @nn.compact
    def __call__(self, x, _):
        h = nn.LayerNorm()(x)
        h = nn.Dense(4 * self.dim)(h)
        return x + nn.Dense(self.dim)(nn.gelu(h)), None


class Decoder(nn.Module):
    dim: int = 64
    depth: int = 12

    @nn.compact
    def __call__(self, x):
        layer = nn.remat(DecoderLayer, policy=jax.checkpoint_policies.nothing_saveable)  # finding
        stack = nn.scan(  # finding-also
            layer,
            variable_axes={"params": 0},
            split_rngs={"params": True},
            length=self.depth,
        )
        x, _ = stack(self.dim, name="layers")(x, None)
        return nn.LayerNorm()(x)


def main():
    model = Decoder()
    x = jnp.ones((2, 32, 64))
    params = model.init(jax.random.key(0), x)
    loss = jax.jit(lambda p, x: jnp.mean(model.apply(p, x) ** 2))
    grads = jax.grad(loss)(params, x)
    print(jax.tree.map(jnp.shape, grads))


if __name__ == "__main__":
    main()
