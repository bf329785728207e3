# source: jax-ml/jax#192

import jax
import jax.numpy as jnp


def sample_noise(key, shape, kind):
    if kind == "gaussian":
        return jax.random.normal(key, shape)
    if kind == "laplace":
        return jax.random.laplace(key, shape)
    return jax.random.uniform(key, shape, minval=-1.0, maxval=1.0)


@jax.jit
def explore(key, action, heavy):
    return action + jax.lax.cond(
        heavy,
        lambda k: jax.random.cauchy(k, action.shape),
        lambda k: jax.random.normal(k, action.shape),
        key,
    )


def main():
    keys = jax.random.split(jax.random.key(0), 4)
    for k, kind in zip(keys, ("gaussian", "laplace", "uniform")):
        print(sample_noise(k, (2,), kind))
    return explore(keys[3], jnp.zeros(2), True)


if __name__ == "__main__":
    print(main())
