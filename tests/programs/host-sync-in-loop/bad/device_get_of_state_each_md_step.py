# source: google/brax#227
# blind: eighteenth

import functools

import jax
import jax.numpy as jnp
import numpy as np


def acceleration(pos, mass, soft=0.05):
    diff = pos[None, :, :] - pos[:, None, :]
    inv_d3 = (jnp.sum(diff**2, -1) + soft**2) ** -1.5
    return jnp.einsum("ijk,ij,j->ik", diff, inv_d3, mass)


@functools.partial(jax.jit, donate_argnums=(0, 1), static_argnames="dt")
def leapfrog(pos, vel, mass, dt=0.01):
    vel = vel + 0.5 * dt * acceleration(pos, mass)
    pos = pos + dt * vel
    vel = vel + 0.5 * dt * acceleration(pos, mass)
    return pos, vel


class NBody:
    def __init__(self, n, seed=0):
        k1, k2 = jax.random.split(jax.random.key(seed))
        self.pos = jax.random.normal(k1, (n, 3))
        self.vel = 0.1 * jax.random.normal(k2, (n, 3))
        self.mass = jnp.ones(n) / n

    def run(self, n_steps):
        pos, vel = self.pos, self.vel
        self.pos = self.vel = None
        frames = []
        for _ in range(n_steps):
            pos, vel = leapfrog(pos, vel, self.mass)
            frames.append(jax.device_get(pos))  # finding
        return np.stack(frames)


if __name__ == "__main__":
    print(NBody(8).run(20).shape)
