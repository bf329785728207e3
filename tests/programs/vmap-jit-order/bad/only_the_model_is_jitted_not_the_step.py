# source: jax-ml/jax#1832
# blind: eighteenth

import jax
import jax.numpy as jnp
import optax


@jax.jit  # finding-also
def elbo(params, key, x):
    mean, log_std = params["mean"], params["log_std"]
    eps = jax.random.normal(key, (16,) + mean.shape)
    z = mean + jnp.exp(log_std) * eps
    log_lik = -0.5 * jnp.sum((x[None] - z[:, None]) ** 2, axis=(1, 2)).mean()
    kl = 0.5 * jnp.sum(jnp.exp(2 * log_std) + mean**2 - 1 - 2 * log_std)
    return log_lik - kl


def negative_elbo(params, key, x):
    return -elbo(params, key, x)


def fit(key, x, n_steps=20):
    params = {"mean": jnp.zeros(x.shape[-1]), "log_std": jnp.zeros(x.shape[-1])}
    tx = optax.adam(1e-2)
    opt_state = tx.init(params)
    for step_key in jax.random.split(key, n_steps):
        grads = jax.grad(negative_elbo)(params, step_key, x)  # finding
        updates, opt_state = tx.update(grads, opt_state, params)  # finding-also
        params = optax.apply_updates(params, updates)  # finding-also
    return params


def main():
    k_data, k_fit = jax.random.split(jax.random.key(0))
    data = 2.0 + jax.random.normal(k_data, (50, 3))
    print(fit(k_fit, data))


if __name__ == "__main__":
    main()
