# source: jax-ml/jax#7542
# blind: first

import jax
import jax.numpy as jnp


class PiecewiseLinear:
    def __init__(self, knots):
        self.knots = knots

    def ordered(self):
        return sorted(self.knots)  # finding

    def __call__(self, x):
        xs = jnp.stack(self.ordered())
        return jnp.interp(x, xs, jnp.linspace(0.0, 1.0, len(xs)))


def misfit(knots, x, y):
    curve = PiecewiseLinear(knots)
    return jnp.mean((jax.vmap(curve)(x) - y) ** 2)


@jax.jit
def fit(knots, x, y):
    return jax.tree.map(lambda k, g: k - 0.1 * g, knots, jax.grad(misfit)(knots, x, y))


if __name__ == "__main__":
    print(fit([0.3, 0.1, 0.9], jnp.linspace(0, 1, 5), jnp.ones(5)))
