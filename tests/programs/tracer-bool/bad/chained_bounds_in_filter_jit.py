# source: patrick-kidger/equinox#418
# blind: first

import equinox as eqx
import jax
import jax.numpy as jnp


class Reservoir(eqx.Module):
    capacity: jax.Array
    leak: jax.Array

    def clamp(self, level):
        if 0.0 <= level <= self.capacity:  # finding
            return level
        return jnp.minimum(jnp.maximum(level, 0.0), self.capacity)

    def __call__(self, level, inflow):
        level = level + inflow - self.leak * level
        return self.clamp(level)


@eqx.filter_jit
def advance(model, level, inflow):
    return model(level, inflow)


if __name__ == "__main__":
    tank = Reservoir(jnp.array(10.0), jnp.array(0.1))
    print(advance(tank, jnp.array(1.0), jnp.array(0.5)))
