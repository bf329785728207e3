# source: jax-ml/jax#2793
# blind: nineteenth

import jax
import jax.numpy as jnp
import numpy as np
import optax


def init_autoencoder(key, dim, latent):
    k1, k2 = jax.random.split(key)
    return {
        "enc": jax.random.normal(k1, (dim, latent)) * dim ** -0.5,
        "dec": jax.random.normal(k2, (latent, dim)) * latent ** -0.5,
        "bias": jnp.zeros(latent),
    }


def reconstruct(params, x):
    h = jax.nn.relu(x @ params["enc"] + params["bias"])
    return h @ params["dec"]


tx = optax.adam(3e-3)


@jax.jit
def denoising_step(params, opt_state, batch):
    noise = np.random.normal(0.0, 0.6, size=batch.shape).astype(np.float32)  # finding
    noisy = batch + noise

    def loss_fn(p):
        return jnp.mean((reconstruct(p, noisy) - batch) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def low_rank_data(seed, n, dim, rank):
    rng = np.random.default_rng(seed)
    basis = rng.normal(size=(rank, dim)) / np.sqrt(rank)
    codes = rng.normal(size=(n, rank))
    return jnp.asarray(codes @ basis, jnp.float32)


def test_error(params, clean, seed):
    rng = np.random.default_rng(seed)
    noisy = clean + rng.normal(0.0, 0.6, size=clean.shape).astype(np.float32)
    return jnp.mean((reconstruct(params, noisy) - clean) ** 2)


def main():
    np.random.seed(0)
    data = low_rank_data(1, 64, 40, 4)
    params = init_autoencoder(jax.random.key(0), 40, 64)
    opt_state = tx.init(params)
    for _ in range(1500):
        params, opt_state, loss = denoising_step(params, opt_state, data)
    print("train loss", float(loss), "error with fresh noise", float(test_error(params, data, 5)))


if __name__ == "__main__":
    main()
