# blind: tenth

import jax
import jax.numpy as jnp


def langevin(key, x, grad, steps, size=0.01):
    def body(carry, _):
        x, key = carry
        noise_key, other = jax.random.split(key)  # finding-also
        x = x - size * grad(x) + jnp.sqrt(2 * size) * jax.random.normal(noise_key, x.shape)
        return (x, key), x  # finding

    (x, _), path = jax.lax.scan(body, (x, key), None, length=steps)  # finding-also
    return path


print(langevin(jax.random.key(0), jnp.zeros(2), lambda x: x, 10)[-1])
