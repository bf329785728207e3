# source: jax-ml/jax#2697
# blind: nineteenth

import functools

import jax
import jax.numpy as jnp


def rbf_gram(x, bandwidth):
    sq = jnp.sum(x * x, axis=-1)
    d2 = sq[:, None] + sq[None, :] - 2.0 * x @ x.T
    return jnp.exp(-d2 / (2.0 * bandwidth ** 2))


def center_gram(gram):
    row = gram.mean(axis=1)  # finding-also
    col = gram.mean(axis=0)
    return gram - row - col + gram.mean()  # finding


def hsic(gram_x, gram_y):
    n = gram_x.shape[0]
    return jnp.sum(gram_x * gram_y) / (n - 1) ** 2


@functools.partial(jax.jit, static_argnames=("bandwidth",))
def kernel_cka(feats_a, feats_b, bandwidth=1.0):
    ka = center_gram(rbf_gram(feats_a, bandwidth))
    kb = center_gram(rbf_gram(feats_b, bandwidth))
    return hsic(ka, kb) / jnp.sqrt(hsic(ka, ka) * hsic(kb, kb))


def layer_features(key, x, widths):
    feats = []
    for k, w in zip(jax.random.split(key, len(widths)), widths):
        x = jnp.tanh(x @ jax.random.normal(k, (x.shape[-1], w)) / jnp.sqrt(x.shape[-1]))
        feats.append(x)
    return feats


def main():
    k_x, k_a, k_b, k_n = jax.random.split(jax.random.key(3), 4)
    x = jax.random.normal(k_x, (96, 10))
    feats_a = layer_features(k_a, x, (32, 32, 16))
    feats_b = layer_features(k_b, x, (32, 32, 16))
    for i, (fa, fb) in enumerate(zip(feats_a, feats_b)):
        print("layer", i, "cka", float(kernel_cka(fa, fb, bandwidth=2.0)))
    noise = jax.random.normal(k_n, (96, 10))
    print("independent", float(kernel_cka(x, noise, bandwidth=2.0)))
    g = center_gram(rbf_gram(x, 2.0))
    print("row sums of centred gram", float(jnp.abs(g.sum(axis=1)).max()))


if __name__ == "__main__":
    main()
