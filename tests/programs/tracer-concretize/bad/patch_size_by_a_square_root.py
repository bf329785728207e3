# blind: ninth

import flax.linen as nn
import jax
import jax.numpy as jnp


class Unpatch(nn.Module):
    channels: int

    @nn.compact
    def __call__(self, tokens):
        batch, count, _ = tokens.shape
        side = int(jnp.sqrt(count))  # finding
        x = nn.Dense(self.channels)(tokens)
        return x.reshape(batch, side, side, self.channels)


@jax.jit
def decode(params, tokens):
    return Unpatch(3).apply(params, tokens)


def main():
    tokens = jnp.ones((2, 16, 8))
    params = Unpatch(3).init(jax.random.key(0), tokens)
    return decode(params, tokens).shape


if __name__ == "__main__":
    print(main())
