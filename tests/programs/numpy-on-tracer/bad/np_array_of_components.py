# source: jax-ml/jax#3356
# blind: first

import jax
import jax.numpy as jnp
import numpy as np


def rotation(theta):
    c, s = jnp.cos(theta), jnp.sin(theta)
    return np.array([[c, -s], [s, c]])  # finding


def end_effector(angles, lengths):
    position, heading = jnp.zeros(2), 0.0
    for angle, length in zip(angles, lengths):
        heading = heading + angle
        position = position + rotation(heading) @ jnp.array([length, 0.0])
    return position


jacobian = jax.jacfwd(end_effector)

if __name__ == "__main__":
    print(jacobian(jnp.array([0.1, 0.2]), (1.0, 0.5)))
