# source: jax-ml/jax#192

import jax
import jax.numpy as jnp


def sde_path(x0, key, dt, n):
    def body(x, inputs):
        t, k = inputs
        x = x - x * dt + jnp.sqrt(dt) * jax.random.normal(k, x.shape) * jnp.cos(t)
        return x, x

    ts = jnp.arange(n) * dt
    return jax.lax.scan(body, x0, (ts, jax.random.split(key, n)))[1]


@jax.jit
def ensemble(key, x0):
    return jax.vmap(lambda k: sde_path(x0, k, 0.01, 20))(jax.random.split(key, 5))


if __name__ == "__main__":
    print(ensemble(jax.random.key(1), jnp.zeros(2)).shape)
