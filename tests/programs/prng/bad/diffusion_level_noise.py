# source: p-doom/jasmine#214
# blind: nineteenth

import jax
import jax.numpy as jnp
import optax


def init_denoiser(key, hidden):
    k1, k2, k3 = jax.random.split(key, 3)
    return {
        "w1": jax.random.normal(k1, (2, hidden)) * 0.7,
        "b1": jnp.zeros(hidden),
        "w2": jax.random.normal(k2, (hidden, hidden)) * hidden ** -0.5,
        "w3": jax.random.normal(k3, (hidden, 1)) * hidden ** -0.5,
    }


def predict_noise(params, x_t, t):
    h = jnp.stack([x_t, t], axis=-1)
    h = jax.nn.silu(h @ params["w1"] + params["b1"])
    h = jax.nn.silu(h @ params["w2"])
    return (h @ params["w3"])[..., 0]


def alpha_bar(t):
    return jnp.cos(0.5 * jnp.pi * t) ** 2


def corrupt(key, x0):
    key, k_noise = jax.random.split(key)  # finding-also
    t = jax.random.uniform(k_noise, x0.shape, minval=0.02, maxval=0.98)  # finding-also
    eps = jax.random.normal(k_noise, x0.shape)  # finding
    x_t = jnp.sqrt(alpha_bar(t)) * x0 + jnp.sqrt(1.0 - alpha_bar(t)) * eps
    return x_t, t, eps


tx = optax.adam(2e-3)


@jax.jit
def train_step(params, opt_state, key, x0):
    x_t, t, eps = corrupt(key, x0)

    def loss_fn(p):
        return jnp.mean((predict_noise(p, x_t, t) - eps) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def two_moons_1d(key, n):
    k_mode, k_jit = jax.random.split(key)
    mode = jnp.where(jax.random.bernoulli(k_mode, 0.5, (n,)), 1.5, -1.5)
    return mode + 0.2 * jax.random.normal(k_jit, (n,))


def main():
    root, k_init = jax.random.split(jax.random.key(0))
    params = init_denoiser(k_init, 64)
    opt_state = tx.init(params)
    for _ in range(400):
        root, k_data, k_step = jax.random.split(root, 3)
        params, opt_state, loss = train_step(params, opt_state, k_step, two_moons_1d(k_data, 512))
    _, t, eps = corrupt(root, jnp.zeros(4096))
    print("loss", float(loss), "corr(t, eps)", float(jnp.corrcoef(t, eps)[0, 1]))


if __name__ == "__main__":
    main()
