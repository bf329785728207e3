# source: jax-ml/jax#14183
# blind: eighteenth
# missed: three iterations

import functools

import jax
import jax.numpy as jnp


def ridge_loss(w, x, y, lam):
    return jnp.mean((x @ w - y) ** 2) + lam * jnp.sum(w**2)


def gradient_descent(grad_fn, w, n_iter=20, lr=0.1):
    for _ in range(n_iter):
        w = w - lr * grad_fn(w)
    return w


def regularisation_path(x, y, lams):
    coefs = []
    for lam in lams:
        grad_fn = jax.jit(jax.grad(functools.partial(ridge_loss, x=x, y=y, lam=lam)))  # finding
        coefs.append(gradient_descent(grad_fn, jnp.zeros(x.shape[1])))
    return jnp.stack(coefs)


def cross_validate(x, y, lams, folds=2):
    scores = []
    for fold in range(folds):
        train, test = x[fold::folds], x[1 - fold :: folds]
        coefs = regularisation_path(train, y[fold::folds], lams)
        scores.append(((test @ coefs.T - y[1 - fold :: folds, None]) ** 2).mean(axis=0))
    return jnp.stack(scores).mean(axis=0)


if __name__ == "__main__":
    design = jax.random.normal(jax.random.key(0), (40, 3))
    target = design @ jnp.array([1.0, -2.0, 0.5])
    print(cross_validate(design, target, [0.01, 0.1, 1.0]))
