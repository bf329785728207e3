# forward mode, and rows of a matrix

import jax
import jax.numpy as jnp
import numpy as np

def rotation(theta):
    c, s = jnp.cos(theta), jnp.sin(theta)
    return np.array([[c, -s], [s, c]])  # finding

def end(angles):
    return rotation(angles[0]) @ jnp.ones(2)

def weights(angles, rows):
    fixed = np.array([[1.0, rows], [rows, 1.0]])
    return jnp.stack([jnp.stack([jnp.cos(angles[0]), 0.0]), jnp.sin(angles)]) @ fixed

def main(angles):
    a = jax.jacfwd(end)(angles)
    b = jax.jacfwd(weights)(angles, 2.0)
    return a, b, jax.jvp(lambda angles: weights(angles, 2.0), (angles,), (angles,)), rotation(angles[0])
