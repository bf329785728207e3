# blind: ninth

import jax
import jax.numpy as jnp


class Energy:
    def __init__(self, springs):
        self.springs = springs
        self.value = jax.jit(self._value)

    def _value(self, x):
        stretch = jnp.diff(x) - 1.0
        return 0.5 * jnp.sum(self.springs * stretch**2) + 0.25 * jnp.sum(x**4)


def newton(energy, x, steps):
    for _ in range(steps):
        gradient = jax.grad(energy.value)(x)  # finding-also
        hessian = jax.hessian(energy.value)(x)  # finding
        x = x - jnp.linalg.solve(hessian, gradient)
    return x


if __name__ == "__main__":
    print(newton(Energy(jnp.ones(31)), jnp.linspace(0.0, 1.0, 32), 50))
