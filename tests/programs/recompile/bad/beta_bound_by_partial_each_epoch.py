# source: jax-ml/jax#11357
# blind: second

from functools import partial

import jax
import jax.numpy as jnp
import optax


def encode(params, x):
    h = jnp.tanh(x @ params["enc"])
    mean, logvar = jnp.split(h, 2, axis=-1)
    return mean, logvar


def elbo(params, x, key, beta=1.0):
    mean, logvar = encode(params, x)
    z = mean + jnp.exp(0.5 * logvar) * jax.random.normal(key, mean.shape)
    recon = z @ params["dec"]
    kl = -0.5 * jnp.sum(1 + logvar - mean**2 - jnp.exp(logvar), axis=-1)
    return jnp.mean(jnp.sum((recon - x) ** 2, axis=-1) + beta * kl)


def warmup(epoch, epochs=10):
    return min(1.0, epoch / epochs)


def fit(params, batches, key, epochs=5):
    tx = optax.adam(1e-3)
    opt_state = tx.init(params)
    for epoch in range(epochs):
        loss_fn = partial(elbo, beta=warmup(epoch))
        grad_fn = jax.jit(jax.value_and_grad(loss_fn))  # finding
        for batch in batches:
            key, sub = jax.random.split(key)
            loss, grads = grad_fn(params, batch, sub)
            updates, opt_state = tx.update(grads, opt_state)
            params = optax.apply_updates(params, updates)
    return params


if __name__ == "__main__":
    k1, k2, k3 = jax.random.split(jax.random.key(0), 3)
    params = {
        "enc": 0.1 * jax.random.normal(k1, (12, 8)),
        "dec": 0.1 * jax.random.normal(k2, (4, 12)),
    }
    batches = list(jax.random.normal(k3, (4, 16, 12)))
    print(jax.tree.map(jnp.shape, fit(params, batches, jax.random.key(1))))
