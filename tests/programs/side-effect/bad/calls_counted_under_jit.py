# blind: tenth

import jax
import jax.numpy as jnp


class Schedule:
    def __init__(self):
        self.calls = 0

    def rate(self):
        self.calls += 1  # finding
        return 0.1 / self.calls


schedule = Schedule()


@jax.jit
def step(w, g):
    return w - schedule.rate() * g  # finding-also


w = jnp.ones(3)
for _ in range(5):
    w = step(w, w)
print(w, schedule.calls)
