# angles and roots of what starts at rest

import jax
import jax.numpy as jnp

def drift(wind, velocity):
    def step(velocity, gust):
        velocity = velocity + 0.1 * (gust - velocity)
        return velocity, (velocity, jnp.arctan2(velocity[1], velocity[0] + 1.0))

    return jax.lax.scan(step, velocity, wind)[1]

def course(wind):
    track, slip = drift(wind, jnp.zeros(2))
    angle = jnp.arctan2(track[:, 1], track[:, 0])  # finding
    return jnp.sum(angle * jnp.linalg.norm(track, axis=-1)) + jnp.sum(slip)  # finding

@jax.jit
def plan(wind):
    return jax.grad(course)(wind)

plan(jnp.zeros((5, 2)))

def glide(wind, velocity):
    def step(velocity, gust):
        velocity = velocity + 0.1 * (gust - velocity)
        return velocity, velocity

    return jax.lax.scan(step, velocity, wind)[1]

def moving(wind):
    track = glide(wind, jnp.ones(2))
    return jnp.sum(jnp.arctan2(track[:, 1], track[:, 0])) + jnp.sum(jnp.linalg.norm(track, axis=-1))

@jax.jit
def other(wind):
    return jax.grad(moving)(wind)

other(jnp.zeros((5, 2)))

def shaped(params, x):
    gain = params["gain"] * x
    spread = jnp.std(params["bias"])  # finding
    return jnp.sum(gain**0.5) + spread  # finding

def smooth(params, x):
    gain = params["gain"] * x
    return jnp.sum((gain + 1e-6) ** 0.5) + jnp.sum(gain**1.5) + jnp.std(params["bias"] + x)

def fit(x):
    params = {"gain": jnp.zeros(3), "bias": jnp.zeros(3)}
    print(jnp.sqrt(params["gain"]))
    return jax.grad(shaped)(params, x), jax.grad(smooth)(params, x)

fit(jnp.arange(3.0))
