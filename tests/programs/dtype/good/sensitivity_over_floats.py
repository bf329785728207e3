# source: jax-ml/jax#8604
# blind: second

import jax
import jax.numpy as jnp


def dose_response(dose, ec50=3.0, hill=2):
    return dose**hill / (ec50**hill + dose**hill)


def sensitivity(doses):
    slope = jax.jit(jax.vmap(jax.grad(dose_response)))
    return slope(doses)


def curvature(dose):
    return jax.grad(jax.grad(dose_response))(dose, 3.0, 2)


if __name__ == "__main__":
    doses = jnp.arange(1, 9, dtype=jnp.float32)
    print(sensitivity(doses), curvature(2.0), jax.grad(dose_response)(jnp.float32(2)))
