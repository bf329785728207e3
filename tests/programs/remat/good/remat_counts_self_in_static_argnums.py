# source: google/flax#3946
# blind: fourth

import flax.linen as nn
import jax
import jax.numpy as jnp


class Mixer(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, train):
        h = nn.BatchNorm(use_running_average=not train)(x)
        h = nn.relu(nn.Dense(self.width)(h))
        if train:
            h = h + 0.01
        return x + nn.Dense(x.shape[-1])(h)


class Stack(nn.Module):
    depth: int
    width: int
    use_remat: bool = True

    @nn.compact
    def __call__(self, x, train):
        block = nn.remat(Mixer, static_argnums=(2,)) if self.use_remat else Mixer
        for i in range(self.depth):
            x = block(self.width, name=f"block_{i}")(x, train)
        return x


def main():
    model = Stack(depth=3, width=32)
    x = jnp.ones((4, 16))
    variables = model.init(jax.random.key(0), x, True)

    def loss_fn(params):
        y, _ = model.apply({**variables, "params": params}, x, True, mutable=["batch_stats"])
        return jnp.mean(y**2)

    print(jax.tree.map(jnp.shape, jax.grad(loss_fn)(variables["params"])))


if __name__ == "__main__":
    main()
