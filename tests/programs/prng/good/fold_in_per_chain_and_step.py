# source: jax-ml/jax#177
# blind: eighteenth

import jax
import jax.numpy as jnp


def log_density(x):
    return -0.25 * jnp.sum((x**2 - 1.0) ** 2)


def langevin_step(key, x, step_size):
    noise = jax.random.normal(key, x.shape)
    return x + step_size * jax.grad(log_density)(x) + jnp.sqrt(2 * step_size) * noise


def run_chain(base_key, chain_id, x0, n_steps, step_size=0.05):
    key = jax.random.fold_in(base_key, chain_id)

    def body(x, i):
        x = langevin_step(jax.random.fold_in(key, i), x, step_size)
        return x, x

    _, draws = jax.lax.scan(body, x0, jnp.arange(n_steps))
    return draws


@jax.jit
def run_all(base_key, starts):
    ids = jnp.arange(starts.shape[0])
    chain = lambda i, x0: run_chain(base_key, i, x0, 40)
    return jax.vmap(chain)(ids, starts)


if __name__ == "__main__":
    draws = run_all(jax.random.key(7), jnp.zeros((4, 2)))
    print(draws.shape, draws[:, -1])
