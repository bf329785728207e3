# source: noegroup/ScoreMD#7
# blind: first

import jax
import jax.numpy as jnp


def langevin(score, x, key, n_steps, eps=1e-3):
    for _ in range(n_steps):  # finding
        key, sub = jax.random.split(key)
        x = x + eps * score(x) + jnp.sqrt(2 * eps) * jax.random.normal(sub, x.shape)
    return x


sample = jax.jit(lambda x, key: langevin(lambda v: -v, x, key, n_steps=250))

if __name__ == "__main__":
    print(sample(jnp.zeros(2), jax.random.key(0)))
