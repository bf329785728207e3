# source: jax-ml/jax#4143
# blind: third

import functools

import jax
import jax.numpy as jnp


@jax.jit
def elbo(params, key, x):
    mean, logvar = jnp.split(x @ params["enc"], 2)
    z = mean + jnp.exp(0.5 * logvar) * jax.random.normal(key, mean.shape)
    recon = z @ params["dec"]
    kl = -0.5 * jnp.sum(1 + logvar - mean**2 - jnp.exp(logvar))
    return -jnp.sum((x - recon) ** 2) - kl


class Evaluator:
    def __init__(self, params):
        self.params = params
        self.score = jax.vmap(functools.partial(elbo, params))  # finding

    def run(self, key, batches):
        total = 0.0
        for batch in batches:
            key, sub = jax.random.split(key)
            total += self.score(jax.random.split(sub, batch.shape[0]), batch).mean()
        return total / len(batches)


if __name__ == "__main__":
    params = {"enc": jnp.ones((4, 4)), "dec": jnp.ones((2, 4))}
    print(Evaluator(params).run(jax.random.key(0), [jnp.ones((3, 4))] * 2))
