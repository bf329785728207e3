# source: jax-ml/jax#9032
# blind: nineteenth

import jax
import jax.numpy as jnp
import optax

LEVELS = 5


def init_codec(key, dim, latent, hidden):
    k1, k2, k3, k4 = jax.random.split(key, 4)
    return {
        "e1": jax.random.normal(k1, (dim, hidden)) * dim ** -0.5,
        "e2": jax.random.normal(k2, (hidden, latent)) * hidden ** -0.5,
        "d1": jax.random.normal(k3, (latent, hidden)) * latent ** -0.5,
        "d2": jax.random.normal(k4, (hidden, dim)) * hidden ** -0.5,
    }


def encode(params, x):
    return jnp.tanh(x @ params["e1"]) @ params["e2"]


def quantize(z):
    half = (LEVELS - 1) / 2.0
    bounded = half * jnp.tanh(z)
    return bounded + (jnp.round(bounded) - bounded)  # finding


def decode(params, q):
    return jnp.tanh(q @ params["d1"]) @ params["d2"]


def codec_loss(params, x):
    return jnp.mean((decode(params, quantize(encode(params, x))) - x) ** 2)


tx = optax.adam(5e-3)


@jax.jit
def train_step(params, opt_state, x):
    loss, grads = jax.value_and_grad(codec_loss)(params, x)
    updates, opt_state = tx.update(grads, opt_state)
    norms = {k: jnp.linalg.norm(v) for k, v in grads.items()}
    return optax.apply_updates(params, updates), opt_state, loss, norms


def main():
    k_b, k_c, k_p = jax.random.split(jax.random.key(0), 3)
    basis = jax.random.normal(k_b, (3, 16)) / 3 ** 0.5
    x = jax.random.normal(k_c, (512, 3)) @ basis
    params = init_codec(k_p, 16, 4, 48)
    opt_state = tx.init(params)
    for _ in range(500):
        params, opt_state, loss, norms = train_step(params, opt_state, x)
    print("loss", float(loss), "variance", float(x.var()))
    print("gradient norms", {k: round(float(v), 5) for k, v in norms.items()})


if __name__ == "__main__":
    main()
