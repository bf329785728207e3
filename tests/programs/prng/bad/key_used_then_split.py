# source: jax-ml/jax#2009

import jax
import jax.numpy as jnp


def elbo(params, key, x, n_particles):
    mean = x @ params["enc"]
    std = jnp.exp(params["log_std"])
    z = mean + std * jax.random.normal(key, mean.shape)
    keys = jax.random.split(key, n_particles)  # finding

    def one(k):
        z_k = mean + std * jax.random.normal(k, mean.shape)
        return -jnp.mean((z_k @ params["dec"] - x) ** 2)

    control = -jnp.mean((z @ params["dec"] - x) ** 2)
    return jnp.mean(jax.vmap(one)(keys)) - jax.lax.stop_gradient(control)


@jax.jit
def update(params, key, x):
    grads = jax.grad(elbo)(params, key, x, 4)
    return jax.tree.map(lambda p, g: p + 0.01 * g, params, grads)


if __name__ == "__main__":
    p = {"enc": jnp.ones((3, 2)), "dec": jnp.ones((2, 3)), "log_std": jnp.zeros(2)}
    print(update(p, jax.random.key(0), jnp.ones((5, 3)))["log_std"])
