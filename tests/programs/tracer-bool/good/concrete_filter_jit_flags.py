# source: patrick-kidger/equinox#418
# blind: first

import equinox as eqx
import jax
import jax.numpy as jnp


class Block(eqx.Module):
    linear: eqx.nn.Linear
    residual: bool
    scale: float = eqx.field(static=True)

    def __call__(self, x, *, key=None, inference=False):
        y = jax.nn.relu(self.linear(x))
        if self.scale != 1.0:
            y = y * self.scale
        if not inference and key is not None:
            y = y * jax.random.bernoulli(key, 0.9, y.shape)
        return x + y if self.residual else y


@eqx.filter_jit
def apply(block, x, inference):
    if inference:
        return jax.vmap(lambda v: block(v, inference=True))(x)
    return jax.vmap(block)(x)


if __name__ == "__main__":
    b = Block(eqx.nn.Linear(3, 3, key=jax.random.key(0)), True, 0.5)
    print(apply(b, jnp.ones((2, 3)), True).shape)
