# blind: twenty-first
# missed: an item of a dict that a later line changes

import jax
import jax.numpy as jnp
import numpy as np

SETTINGS = {"kl_weight": 0.0, "lr": 0.05}
LATENT = 2


def init(key, d):
    k1, k2, k3 = jax.random.split(key, 3)
    return {
        "mu": 0.3 * jax.random.normal(k1, (d, LATENT)),
        "logvar": 0.01 * jax.random.normal(k2, (d, LATENT)),
        "dec": 0.3 * jax.random.normal(k3, (LATENT, d)),
    }


def loss_fn(params, x, key):
    mu = x @ params["mu"]
    logvar = x @ params["logvar"]
    z = mu + jnp.exp(0.5 * logvar) * jax.random.normal(key, mu.shape)
    recon = jnp.mean(jnp.sum((x - z @ params["dec"]) ** 2, axis=1))
    kl = -0.5 * jnp.mean(jnp.sum(1 + logvar - mu ** 2 - jnp.exp(logvar), axis=1))
    beta = SETTINGS["kl_weight"]  # finding
    return recon + beta * kl, (recon, kl)


@jax.jit
def train_step(params, x, key):
    (loss, aux), grads = jax.value_and_grad(loss_fn, has_aux=True)(params, x, key)
    params = jax.tree.map(lambda p, g: p - 0.01 * g, params, grads)
    return params, aux


def main():
    rng = np.random.default_rng(0)
    basis = rng.normal(size=(LATENT, 6))
    x = jnp.asarray(rng.normal(size=(256, LATENT)) @ basis, jnp.float32)
    params = init(jax.random.key(0), 6)
    key = jax.random.key(1)
    it = 0
    for epoch in range(6):
        SETTINGS["kl_weight"] = min(1.0, epoch / 4)  # finding-also
        for _ in range(60):
            params, (recon, kl) = train_step(params, x, jax.random.fold_in(key, it))
            it += 1
        print("epoch", epoch, "beta", SETTINGS["kl_weight"],
              "recon", float(recon), "kl", float(kl))


if __name__ == "__main__":
    main()
