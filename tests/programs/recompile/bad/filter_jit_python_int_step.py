# source: patrick-kidger/equinox#640

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

optim = optax.adam(1e-3)


def kl_weight(step, warmup=1000):
    return jnp.minimum(1.0, step / warmup)


class AutoEncoder(eqx.Module):
    enc: eqx.nn.Linear
    dec: eqx.nn.Linear

    def __init__(self, size, latent, key):
        k1, k2 = jax.random.split(key)
        self.enc = eqx.nn.Linear(size, 2 * latent, key=k1)
        self.dec = eqx.nn.Linear(latent, size, key=k2)

    def __call__(self, x, key):
        mean, log_std = jnp.split(self.enc(x), 2)
        z = mean + jnp.exp(log_std) * jax.random.normal(key, mean.shape)
        kl = 0.5 * jnp.sum(mean**2 + jnp.exp(2 * log_std) - 2 * log_std - 1)
        return self.dec(z), kl


@eqx.filter_jit
def make_step(model, opt_state, x, key, step):
    @eqx.filter_value_and_grad
    def loss_fn(m):
        recon, kl = jax.vmap(m)(x, jax.random.split(key, x.shape[0]))
        return jnp.mean((recon - x) ** 2) + kl_weight(step) * jnp.mean(kl)

    loss, grads = loss_fn(model)
    updates, opt_state = optim.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state, loss


def train(model, data, key, n_steps):
    opt_state = optim.init(eqx.filter(model, eqx.is_array))
    for i in range(n_steps):
        key, sub = jax.random.split(key)
        model, opt_state, loss = make_step(model, opt_state, data, sub, i)  # finding
    return model, loss


if __name__ == "__main__":
    model = AutoEncoder(6, 2, jax.random.key(0))
    print(train(model, jnp.ones((8, 6)), jax.random.key(1), 6)[1])
