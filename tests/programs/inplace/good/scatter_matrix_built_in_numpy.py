# source: BYUCamachoLab/simphony#88
# blind: third

import jax
import jax.numpy as jnp
import numpy as np


class Component:
    def __init__(self, ports, coupling):
        self.ports = ports
        self.coupling = coupling
        self.pattern = self._pattern()

    def _pattern(self):
        s = np.zeros((self.ports, self.ports))
        for i in range(self.ports):
            for j in range(self.ports):
                if i != j:
                    s[i, j] = self.coupling
        return jnp.asarray(s)

    def s_params(self, wl):
        phase = jnp.exp(2j * jnp.pi / wl)
        s = phase[:, None, None] * self.pattern
        s = s.at[:, 0, 0].set(0.1)
        cache = {}
        cache[self.ports] = s
        return cache[self.ports]


@jax.jit
def cascade(wl):
    parts = [Component(2, 0.5), Component(2, 0.7)]
    total = parts[0].s_params(wl)
    for part in parts[1:]:
        total = total @ part.s_params(wl)
    return total


if __name__ == "__main__":
    print(cascade(jnp.linspace(1.5, 1.6, 4)).shape)
