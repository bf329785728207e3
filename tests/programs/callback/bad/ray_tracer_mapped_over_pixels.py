# source: jax-ml/jax#23881
# blind: seventh

"""Rendering with an external ray tracer, pixel by pixel."""

import jax
import jax.numpy as jnp
import numpy as np


def trace_host(origin, direction):
    t = -np.dot(origin, direction)
    closest = origin + t * direction
    return np.asarray(np.linalg.norm(closest), np.float32)


def trace(origin, direction):
    shape = jax.ShapeDtypeStruct((), jnp.float32)
    return jax.pure_callback(trace_host, shape, origin, direction)  # finding


def shade(origin, direction):
    return jax.nn.sigmoid(10.0 * (1.0 - trace(origin, direction)))


@jax.jit
def render(origins, directions):
    return jax.vmap(shade)(origins, directions)  # finding-also


def main():
    pixels = jnp.linspace(-1.0, 1.0, 16)
    origins = jnp.stack([pixels, jnp.zeros(16), -3.0 * jnp.ones(16)], axis=-1)
    directions = jnp.tile(jnp.array([0.0, 0.0, 1.0]), (16, 1))
    print(render(origins, directions))


if __name__ == "__main__":
    main()
