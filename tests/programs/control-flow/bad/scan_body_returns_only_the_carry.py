# source: jax-ml/jax#20399
# blind: eighth

import jax
import jax.numpy as jnp


def leaky_integrator(inputs, tau):
    def body(v, i):
        v = v + (i - v) / tau
        return v  # finding

    v, trace = jax.lax.scan(body, jnp.zeros(inputs.shape[1:]), inputs)  # finding-also
    return trace


if __name__ == "__main__":
    print(leaky_integrator(jnp.ones((10, 3)), 5.0))
