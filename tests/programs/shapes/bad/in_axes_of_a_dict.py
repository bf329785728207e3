# source: jax-ml/jax#18548
# blind: eleventh

"""The axes of a tree, without a tuple around them."""
import jax
import jax.numpy as jnp


def pendulum(state, torque, length):
    acc = -9.81 / length * jnp.sin(state["angle"]) + torque
    speed = state["speed"] + 0.02 * acc
    return {"angle": state["angle"] + 0.02 * speed, "speed": speed}


def energy(state):
    return 0.5 * state["speed"] ** 2 - 9.81 * jnp.cos(state["angle"])


class Fleet:
    def __init__(self, count, length):
        self.count = count
        self.length = length
        self.step = jax.jit(jax.vmap(pendulum, in_axes=(0, 0, None)))
        self.energy = jax.jit(jax.vmap(energy, in_axes={"angle": 0, "speed": 0}))  # finding

    def reset(self, key):
        angles = jax.random.uniform(key, (self.count,), minval=-1.0, maxval=1.0)
        return {"angle": angles, "speed": jnp.zeros(self.count)}

    def run(self, key, torques):
        state = self.reset(key)
        for torque in torques:
            state = self.step(state, torque, self.length)
        return self.energy(state)


if __name__ == "__main__":
    fleet = Fleet(8, 1.5)
    print(fleet.run(jax.random.key(0), [jnp.zeros(8)] * 3))
