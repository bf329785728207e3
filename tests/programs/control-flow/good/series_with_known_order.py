# source: dynamiqs/dynamiqs#917
# blind: third

import jax
import jax.numpy as jnp


def _term(i, carry, weights):
    total, power, x = carry
    power = power * x / (i + 1)
    return total + weights[i] * power, power, x


def series(x, weights, order):
    def body(i, carry):
        return _term(i, carry, weights)

    return jax.lax.fori_loop(0, order, body, (jnp.zeros_like(x), jnp.ones_like(x), x))[0]


class Quasiprobability:
    def __init__(self, weights):
        self.weights = weights

    def evaluate(self, x):
        return jnp.exp(-(x**2)) * series(x, self.weights, self.weights.shape[0])

    def settled(self, x):
        def unsettled(s):
            return jnp.abs(s[1]) > 1e-6

        def body(s):
            return s[0] + s[1], s[1] * x * 0.5

        return jax.lax.while_loop(unsettled, body, (jnp.zeros_like(x), jnp.ones_like(x)))[0]


def cost(x):
    return Quasiprobability(jnp.array([1.0, 0.5, 0.1, 0.0])).evaluate(x)


if __name__ == "__main__":
    print(jax.grad(cost)(0.3))
    print(jax.jvp(Quasiprobability(jnp.ones(3)).settled, (0.3,), (1.0,)))
