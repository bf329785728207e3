# blind: nineteenth

import functools

import jax
import jax.numpy as jnp


def linear_gram(x):
    return x @ x.T


def center(gram):
    row = gram.mean(axis=0)
    col = gram.mean(axis=1)
    return gram - row[None, :] - col[:, None] + gram.mean()


@functools.partial(jax.jit, static_argnames=("components",))
def kernel_pca(x, components):
    values, vectors = jnp.linalg.eigh(center(linear_gram(x)))
    top = values[::-1][:components]
    return vectors[:, ::-1][:, :components] * jnp.sqrt(jnp.maximum(top, 0.0))


@functools.partial(jax.jit, static_argnames=("components",))
def plain_pca(x, components):
    centered = x - x.mean(axis=0)
    _, _, vt = jnp.linalg.svd(centered, full_matrices=False)
    return centered @ vt[:components].T


def main():
    key = jax.random.key(0)
    x = jax.random.normal(key, (40, 6)) * jnp.array([5.0, 3.0, 1.0, 0.5, 0.3, 0.1]) + 2.0
    a = kernel_pca(x, 2)
    b = plain_pca(x, 2)
    gap = jnp.abs(jnp.abs(a) - jnp.abs(b)).max()
    print("difference to PCA", float(gap))
    print("row sums", float(jnp.abs(center(linear_gram(x)).sum(axis=1)).max()))


if __name__ == "__main__":
    main()
