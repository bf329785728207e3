# source: jax-ml/jax#4367
# blind: eighteenth
# missed: the size of a difference of all pairs

import jax
import jax.numpy as jnp


def sq_dists(x, y):
    diff = x[:, None, :] - y[None, :, :]  # finding
    return jnp.sum(jnp.abs(diff) ** 2, axis=-1)  # finding-also


def rbf(x, y, bandwidth):
    return jnp.exp(-sq_dists(x, y) / (2 * bandwidth**2))


def median_bandwidth(x, key, n=64):
    sub = jax.random.choice(key, x, (n,), replace=False)
    return jnp.sqrt(0.5 * jnp.median(sq_dists(sub, sub)) + 1e-6)


def mmd2(x, y, bandwidth):
    """Unbiased maximum mean discrepancy between two feature sets."""
    n, m = x.shape[0], y.shape[0]
    kxx = rbf(x, x, bandwidth)
    kyy = rbf(y, y, bandwidth)
    kxy = rbf(x, y, bandwidth)
    xx = (kxx.sum() - jnp.trace(kxx)) / (n * (n - 1))
    yy = (kyy.sum() - jnp.trace(kyy)) / (m * (m - 1))
    return xx + yy - 2 * kxy.mean()


def permutation_scores(x, y, key, n_perm=2):
    k_band, k_perm = jax.random.split(key)
    bandwidth = median_bandwidth(x, k_band)
    both = jnp.concatenate([x, y])
    scores = [mmd2(x, y, bandwidth)]
    for k in jax.random.split(k_perm, n_perm):
        shuffled = jax.random.permutation(k, both)
        scores.append(mmd2(shuffled[: len(x)], shuffled[len(x) :], bandwidth))
    return jnp.stack(scores)


if __name__ == "__main__":
    kx, ky, kp = jax.random.split(jax.random.key(0), 3)
    feats_x = jax.random.normal(kx, (1024, 64))
    feats_y = jax.random.normal(ky, (1024, 64)) + 0.1
    print(permutation_scores(feats_x, feats_y, kp))
