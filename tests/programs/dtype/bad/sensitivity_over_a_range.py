# source: jax-ml/jax#8604
# blind: second

import jax
import jax.numpy as jnp


def dose_response(dose, ec50=3.0, hill=2):
    return dose**hill / (ec50**hill + dose**hill)


def sensitivity(doses):
    slope = jax.vmap(jax.grad(dose_response))
    return slope(doses)  # finding


if __name__ == "__main__":
    doses = jnp.arange(1, 9)
    print(sensitivity(doses))
