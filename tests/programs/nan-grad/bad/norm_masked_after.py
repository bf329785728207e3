# source: gbionics/jaxsim#319

import jax
import jax.numpy as jnp


def unit(v):
    length = jnp.linalg.norm(v)
    return jnp.where(length > 0, v / length, jnp.zeros_like(v))  # finding


def friction(velocity, mu, normal_force):
    return -mu * normal_force * unit(velocity)


def simulate(mu, v0, steps=20, dt=0.01):
    def body(v, _):
        v = v + dt * friction(v, mu, 9.81)
        return v, v

    v, path = jax.lax.scan(body, v0, None, length=steps)
    return jnp.sum(path**2)


sensitivity = jax.grad(simulate, argnums=1)
print(sensitivity(0.3, jnp.zeros(2)))
