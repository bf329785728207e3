# source: jax-ml/jax#4274

import jax
import jax.numpy as jnp


@jax.jit  # finding-other
def step(pos, vel):
    acc = -pos
    vel = vel + 0.01 * acc
    return pos + 0.01 * vel, vel


@jax.jit
def summarise(path):
    return path.mean(0), path.std(0)


def simulate(n):
    pos, vel = jnp.ones(3), jnp.zeros(3)
    path = []
    for _ in range(n):  # finding-other
        pos, vel = step(pos, vel)
        path.append(pos)
    return summarise(jnp.stack(path))


if __name__ == "__main__":
    print(simulate(20))
