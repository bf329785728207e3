# source: PlasmaControl/DESC#625
# blind: third

import jax
import jax.numpy as jnp


class Objective:
    def __init__(self, weight):
        self.weight = weight

    def compute(self, modes):
        raise NotImplementedError

    def __call__(self, modes):
        return self.weight * jnp.mean(self.compute(modes) ** 2)


class BoozerSymmetry(Objective):
    def __init__(self, weight, helicity):
        super().__init__(weight)
        self.helicity = helicity

    def compute(self, modes):
        power = jnp.abs(jnp.fft.rfft(modes))
        resonant = power > 1e-3 * power.max()
        return power[resonant] - self.helicity  # finding


class AspectRatio(Objective):
    def compute(self, modes):
        return modes[:1] - 5.0


def build(objectives):
    def total(modes):
        return sum(obj(modes) for obj in objectives)

    return jax.jit(jax.grad(total))


if __name__ == "__main__":
    grad = build([BoozerSymmetry(1.0, 0.1), AspectRatio(0.5)])
    print(grad(jnp.linspace(0.0, 1.0, 16)))
