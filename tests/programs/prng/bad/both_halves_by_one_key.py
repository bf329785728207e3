# source: google/flax#1887
# blind: first

import jax
import jax.numpy as jnp


def glorot(key, shape):
    return jax.random.normal(key, shape) * (2.0 / sum(shape)) ** 0.5


def init_encoder(key, dims):
    return [glorot(k, (i, o)) for k, i, o in zip(jax.random.split(key, len(dims)), dims, dims[1:])]


def init_decoder(rng, dims):
    return [glorot(k, (i, o)) for k, i, o in zip(jax.random.split(rng, len(dims)), dims, dims[1:])]


def init_autoencoder(seed, dims):
    key = jax.random.PRNGKey(seed)
    encoder = init_encoder(key, dims)  # finding-also
    decoder = init_decoder(rng=key, dims=dims[::-1])  # finding
    return {"encoder": encoder, "decoder": decoder}


if __name__ == "__main__":
    print(jax.tree.map(jnp.shape, init_autoencoder(0, (8, 4, 8))))
