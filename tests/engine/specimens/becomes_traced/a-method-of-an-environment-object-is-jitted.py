# a method of an environment object is jitted
import jax
import jax.numpy as jnp

class Env:
    size = 4

    def reset(self, key):
        position = jax.random.uniform(key, (self.size,))
        return float(position[0])  # finding: tracer-concretization

env = Env()
reset = jax.jit(env.reset)
reset(jax.random.key(0))
