# blind: sixteenth

"""Vector quantisation with a straight-through gradient and a commitment loss."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

CODES, DIM = 32, 8


def init(key, din=24):
    k1, k2, k3 = jax.random.split(key, 3)
    return {
        "enc": jax.random.normal(k1, (din, DIM)) / np.sqrt(din),
        "codes": jax.random.normal(k2, (CODES, DIM)),
        "dec": jax.random.normal(k3, (DIM, din)) / np.sqrt(DIM),
    }


def nearest(codes, z):
    distance = jnp.sum((z[:, None, :] - codes[None, :, :]) ** 2, axis=-1)
    return jnp.argmin(distance, axis=1)


def quantise(codes, z):
    q = codes[nearest(codes, z)]
    straight = z + jax.lax.stop_gradient(q - z)
    codebook = jnp.mean((q - jax.lax.stop_gradient(z)) ** 2)
    commit = jnp.mean((jax.lax.stop_gradient(q) - z) ** 2)
    return straight, codebook + 0.25 * commit


def round_st(x):
    return x + jax.lax.stop_gradient(jnp.round(x) - x)


def loss_fn(params, x):
    z = x @ params["enc"]
    q, penalty = quantise(params["codes"], z)
    recon = round_st(q * 16) / 16 @ params["dec"]
    return jnp.mean((recon - x) ** 2) + penalty


optimizer = optax.adam(3e-3)


@jax.jit  # finding-other
def step(params, opt_state, x):
    loss, grads = jax.value_and_grad(loss_fn)(params, x)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    rng = np.random.default_rng(0)
    basis = rng.normal(size=(4, 24)).astype(np.float32)
    params = init(jax.random.PRNGKey(0))
    opt_state = optimizer.init(params)
    for i in range(200):
        x = rng.normal(size=(128, 4)).astype(np.float32) @ basis
        params, opt_state, loss = step(params, opt_state, x)
    print(loss)


if __name__ == "__main__":
    main()
