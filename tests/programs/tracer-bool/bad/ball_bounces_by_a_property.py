# blind: every clause

import jax
import jax.numpy as jnp
from flax import struct


class Ball(struct.PyTreeNode):
    x: jax.Array
    v: jax.Array

    @property
    def energy(self):
        return 0.5 * self.v ** 2 + 9.8 * self.x

    @property
    def grounded(self):
        return self.x <= 0

    def bounce(self):
        if self.grounded:  # finding
            return self.replace(v=-self.v)
        return self


def tick(ball, dt):
    ball = ball.replace(x=ball.x + dt * ball.v)
    return ball.bounce(), ball.energy


print(jax.lax.scan(tick, Ball(jnp.array(1.0), jnp.array(-1.0)), jnp.ones(3)))
