# source: jcmgray/autoray#27
# blind: eighteenth

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Encoder(nn.Module):
    dim: int = 8

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(32)(x))
        z = nn.Dense(self.dim)(x)
        return z / jnp.linalg.norm(z, axis=-1, keepdims=True)


def corrupt(x, rate=0.2):
    mask = np.random.uniform(size=x.shape) > rate  # finding
    return jnp.where(mask, x, 0.0)


def nt_xent(za, zb, temp=0.5):
    sim = za @ zb.T / temp
    labels = jnp.arange(za.shape[0])
    return optax.softmax_cross_entropy_with_integer_labels(sim, labels).mean()


model = Encoder()
tx = optax.adam(1e-3)


@functools.partial(jax.jit, donate_argnums=(0, 1))
def train_step(params, opt_state, x):
    def loss_fn(p):
        za = model.apply({"params": p}, corrupt(x))  # finding-also
        zb = model.apply({"params": p}, corrupt(x))  # finding-also
        return nt_xent(za, zb)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    x = np.random.default_rng(0).normal(size=(16, 6)).astype(np.float32)
    params = model.init(jax.random.key(0), x)["params"]
    opt_state = tx.init(params)
    for _ in range(3):
        params, opt_state, loss = train_step(params, opt_state, x)
    print(loss)


if __name__ == "__main__":
    main()
