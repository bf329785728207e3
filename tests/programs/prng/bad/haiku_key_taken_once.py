# source: deepmind/dm-haiku#126
# blind: first

import haiku as hk
import jax
import jax.numpy as jnp


def vae(x):
    key = hk.next_rng_key()
    mean, log_std = jnp.split(hk.Linear(8)(x), 2, axis=-1)
    z = mean + jnp.exp(log_std) * jax.random.normal(key, mean.shape)
    h = jax.nn.relu(hk.Linear(16)(z))
    h = hk.dropout(key, 0.1, h)  # finding
    return hk.Linear(x.shape[-1])(h)


net = hk.transform(vae)

if __name__ == "__main__":
    x = jnp.ones((2, 6))
    params = net.init(jax.random.key(0), x)
    print(net.apply(params, jax.random.key(1), x).shape)
