# source: jax-ml/jax#16430

import jax
import jax.numpy as jnp


def interval_candidates(a, b, c):
    disc = jnp.sqrt(jnp.maximum(b * b - 4 * a * c, 0.0))
    return [(-b - disc) / (2 * a), (-b + disc) / (2 * a)]


def first_hit(origin, direction, centre, radius):
    offset = origin - centre
    a = jnp.dot(direction, direction)
    b = 2 * jnp.dot(offset, direction)
    c = jnp.dot(offset, offset) - radius**2
    near, far = sorted(interval_candidates(a, b, c))  # finding
    return jnp.where(near > 0, near, far)


def render(origins, directions):
    trace = jax.vmap(first_hit, in_axes=(0, 0, None, None))
    depth = trace(origins, directions, jnp.array([0.0, 0.0, 3.0]), 1.0)
    return jnp.exp(-depth)


if __name__ == "__main__":
    origins = jnp.zeros((9, 3))
    directions = jnp.stack([jnp.linspace(-0.2, 0.2, 9), jnp.zeros(9), jnp.ones(9)], -1)
    print(render(origins, directions))
