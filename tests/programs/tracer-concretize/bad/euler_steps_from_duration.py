# source: jax-ml/jax#25186
# blind: third

from functools import partial

import jax
import jax.numpy as jnp
from flax import struct


@struct.dataclass
class Setup:
    height: float
    dt: float
    substeps: int


def drift(z, setup):
    return 0.5 * (1.0 - jnp.cos(z * jnp.pi / setup.height))


def forward_euler(setup, z0):
    z = z0
    for _ in range(setup.substeps - 1):  # finding
        z = z + setup.dt * drift(z, setup)
    return z


@partial(jax.jit, static_argnames=("solver",))
def trajectories(setup, starts, solver):
    return jax.vmap(partial(solver, setup))(starts)


if __name__ == "__main__":
    setup = Setup(height=2.0, dt=0.1, substeps=8)
    print(trajectories(setup, jnp.linspace(0.0, 1.0, 4), forward_euler))
