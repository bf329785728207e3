# source: jax-ml/jax#10596
# blind: fifth

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp


class Encoder(nn.Module):
    width: int = 1024

    @nn.compact
    def __call__(self, x):
        for _ in range(3):
            x = nn.relu(nn.Dense(self.width)(x))
        return x / (jnp.linalg.norm(x, axis=-1, keepdims=True) + 1e-6)


def build_encoder(seed, dim):
    model = Encoder()
    variables = model.init(jax.random.key(seed), jnp.ones((1, dim)))
    return jax.jit(functools.partial(model.apply, variables))  # finding


def embed_all(encode, batches):
    return jnp.concatenate([encode(b) for b in batches])


if __name__ == "__main__":
    encode = build_encoder(0, 512)
    print(embed_all(encode, [jnp.ones((4, 512))] * 3).shape)
