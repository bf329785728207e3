# blind: tenth

import jax
import jax.numpy as jnp


@jax.jit
def rk3(y, dt):
    for c in (1.0 / 3.0, 0.5, 1.0):
        y = y + c * dt * jnp.sin(y)
    return y


def moments(y, order=4):
    powers = [jnp.ones_like(y)]
    for _ in range(order):
        powers.append(powers[-1] * y)
    return jnp.stack(powers).mean(axis=1)


print(moments(rk3(jnp.arange(4.0), 0.1)))
