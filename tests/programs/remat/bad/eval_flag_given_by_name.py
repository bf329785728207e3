# source: google/flax#3630
# blind: seventh

import flax.linen as nn
import jax
import jax.numpy as jnp


class ConvBlock(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x, train: bool):
        x = nn.Conv(self.features, (3, 3), use_bias=False)(x)
        x = nn.BatchNorm(use_running_average=not train)(x)  # finding-also
        return nn.relu(x)


class UNet(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool):
        block = nn.checkpoint(ConvBlock, static_argnums=(2,))  # finding-also
        for features in (8, 16):
            x = block(features)(x, train=train)  # finding
        return nn.Conv(1, (1, 1))(x)


def main():
    model = UNet()
    x = jnp.ones((1, 16, 16, 1))
    variables = model.init(jax.random.key(0), x, train=False)
    out = model.apply(variables, x, train=False)
    print(out.shape)


if __name__ == "__main__":
    main()
