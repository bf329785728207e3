# blind: ninth

import jax
import jax.numpy as jnp


def backtrack(f, x, direction, slope, alpha=1.0):
    start = f(x)
    while f(x + alpha * direction) > start + 1e-4 * alpha * slope:  # finding
        alpha *= 0.5
    return alpha


class GradientDescent:
    def __init__(self, fun):
        self.fun = fun
        self.value_and_grad = jax.value_and_grad(fun)
        self.update = jax.jit(self._update)

    def _update(self, x):
        _, grad = self.value_and_grad(x)
        alpha = backtrack(self.fun, x, -grad, -jnp.vdot(grad, grad))
        return x - alpha * grad

    def run(self, x, steps):
        for _ in range(steps):
            x = self.update(x)
        return x


if __name__ == "__main__":
    print(GradientDescent(lambda x: jnp.sum((x - 1.0) ** 4)).run(jnp.zeros(3), 10))
