# source: jax-ml/jax#4143
# blind: eighth

import jax
import jax.numpy as jnp

M = jnp.ones((30, 20))


@jax.jit
def apply_matrix(v):
    return jnp.tanh(M @ v)


batched_apply = jax.vmap(apply_matrix)  # finding


def power_iterations(vs, n):
    for _ in range(n):
        vs = batched_apply(vs) @ M  # finding-also
        vs = vs / jnp.linalg.norm(vs, axis=-1, keepdims=True)
    return vs


if __name__ == "__main__":
    print(power_iterations(jnp.ones((10, 20)), 4).shape)
