# source: BYUCamachoLab/simphony#88
# blind: third

import jax.numpy as jnp


class Component:
    def __init__(self, ports, coupling):
        self.ports = ports
        self.coupling = coupling

    def s_params(self, wl):
        phase = jnp.exp(2j * jnp.pi / wl)
        s = self._blank(wl)
        for i in range(self.ports):
            for j in range(self.ports):
                if i != j:
                    s[:, i, j] = self.coupling * phase  # finding
        return s

    def _blank(self, wl):
        return jnp.zeros((wl.size, self.ports, self.ports), complex)


def cascade(components, wl):
    total = components[0].s_params(wl)
    for part in components[1:]:
        total = total @ part.s_params(wl)
    return total


if __name__ == "__main__":
    wl = jnp.linspace(1.5, 1.6, 4)
    print(cascade([Component(2, 0.5), Component(2, 0.7)], wl).shape)
