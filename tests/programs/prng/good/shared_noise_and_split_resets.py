# blind: ninth

import jax
import jax.numpy as jnp


class Pendulum:
    def reset(self, rng, gravity):
        return jax.random.uniform(rng, (), minval=-jnp.pi, maxval=jnp.pi) + 0.0 * gravity


class VmapWrapper:
    def __init__(self, env):
        self.env = env

    def reset(self, rng, gravity):
        keys = jax.random.split(rng, gravity.shape[0])
        return jax.vmap(self.env.reset, in_axes=(0, 0))(keys, gravity)


def main(n=16):
    return VmapWrapper(Pendulum()).reset(jax.random.key(0), jnp.linspace(9.0, 10.0, n))


if __name__ == "__main__":
    print(main())
