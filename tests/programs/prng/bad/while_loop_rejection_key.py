# source: jax-ml/jax#192

import jax
import jax.numpy as jnp


@jax.jit
def truncated(key, low):
    def cond(x):
        return x < low

    def body(x):
        return jax.random.normal(key)  # finding

    return jax.lax.while_loop(cond, body, jax.random.normal(jax.random.fold_in(key, 1)))


if __name__ == "__main__":
    print(jax.make_jaxpr(truncated)(jax.random.key(0), 0.5))
