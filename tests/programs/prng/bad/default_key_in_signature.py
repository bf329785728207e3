# source: jax-ml/jax#181
# blind: second

import flax.linen as nn
import jax
import jax.numpy as jnp


class Decoder(nn.Module):
    hidden: int = 32
    out: int = 10

    @nn.compact
    def __call__(self, z):
        z = nn.relu(nn.Dense(self.hidden)(z))
        return nn.Dense(self.out)(z)


def sample_prior(count, dim, key=jax.random.key(0)):  # finding
    return jax.random.normal(key, (count, dim))  # finding-also


def generate(model, params, count=4, dim=3):
    return model.apply(params, sample_prior(count, dim))  # finding-also


def gallery(model, params, pages):
    return jnp.stack([generate(model, params) for _ in range(pages)])  # finding-also


def diversity(images):
    flat = images.reshape(-1, images.shape[-1])
    return jnp.mean(jnp.std(flat, axis=0))


def main():
    model = Decoder()
    params = model.init(jax.random.key(42), jnp.ones((1, 3)))
    pages = gallery(model, params, 5)
    print(pages.shape, diversity(pages))


if __name__ == "__main__":
    main()
