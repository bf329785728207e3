# blind: twelfth

"""Leave-one-out predictions of a Gaussian process."""
import jax
import jax.numpy as jnp

NUM_TRAIN = 128
NUM_FOLDS = 16


def rbf(x1, x2, lengthscale):
    d = (x1[:, None, :] - x2[None, :, :]) / lengthscale
    return jnp.exp(-0.5 * jnp.sum(d**2, -1))


def fold_prediction(mask, noise, x, y, lengthscale):
    k = rbf(x, x, lengthscale) + jnp.diag(jnp.where(mask, noise, 1e6))
    alpha = jnp.linalg.solve(k, y)
    return rbf(x, x, lengthscale) @ alpha


def fold_masks():
    folds = jnp.arange(NUM_TRAIN) % NUM_FOLDS
    return jnp.stack([folds != i for i in range(NUM_FOLDS)])


def cross_validate(key):
    kx, ky = jax.random.split(key)
    x = jax.random.uniform(kx, (NUM_TRAIN, 3))
    y = jnp.sin(x).sum(-1) + 0.1 * jax.random.normal(ky, (NUM_TRAIN,))
    noises = jnp.full((NUM_TRAIN,), 0.1)
    run = jax.vmap(fold_prediction, in_axes=(0, 0, None, None, None))
    preds = run(fold_masks(), noises, x, y, 0.5)  # finding
    return jnp.mean((preds - y) ** 2)


if __name__ == "__main__":
    print(cross_validate(jax.random.key(0)))
