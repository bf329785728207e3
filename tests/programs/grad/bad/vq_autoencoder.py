# source: zalandoresearch/pytorch-vq-vae#6
# blind: twenty-first

import jax
import jax.numpy as jnp
import numpy as np
import optax

CODES = 16
DIM = 4


def init(key, d_in):
    k1, k2, k3 = jax.random.split(key, 3)
    return {
        "enc": jax.random.normal(k1, (d_in, DIM)) / d_in ** 0.5,
        "dec": jax.random.normal(k2, (DIM, d_in)) / DIM ** 0.5,
        "codebook": jax.random.normal(k3, (CODES, DIM)),
    }


def nearest(codebook, z):
    dist = jnp.sum((z[:, None, :] - codebook[None]) ** 2, axis=-1)
    return jnp.argmin(dist, axis=-1)


def quantise(codebook, z):
    codes = nearest(codebook, z)
    quantised = codebook[codes]
    return z + (quantised - z), codes, quantised  # finding


def loss_fn(params, x, commitment):
    z = x @ params["enc"]
    passed, codes, quantised = quantise(params["codebook"], z)
    recon = jnp.mean((passed @ params["dec"] - x) ** 2)
    codebook_loss = jnp.mean((quantised - jax.lax.stop_gradient(z)) ** 2)
    commit = jnp.mean((z - jax.lax.stop_gradient(quantised)) ** 2)
    return recon + codebook_loss + commitment * commit, (recon, codes)


tx = optax.adam(3e-3)


@jax.jit
def step(params, opt_state, x, commitment):
    (loss, aux), grads = jax.value_and_grad(loss_fn, has_aux=True)(params, x, commitment)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, aux, grads


def main():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(8, 10))
    params = init(jax.random.key(0), 10)
    start = params
    opt_state = tx.init(params)
    for _ in range(400):
        x = centres[rng.integers(0, 8, size=64)] + 0.1 * rng.normal(size=(64, 10))
        x = jnp.asarray(x, jnp.float32)
        params, opt_state, (recon, codes), grads = step(params, opt_state, x, 0.0)
    moved = jnp.abs(params["enc"] - start["enc"]).max()
    print("reconstruction", float(recon), "codes used", len(np.unique(codes)))
    print("encoder moved", float(moved))


if __name__ == "__main__":
    main()
