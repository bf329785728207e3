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

    return jax.lax.fori_loop(0, order, body, (jnp.zeros_like(x), jnp.ones_like(x), x))[0]  # finding


class Quasiprobability:
    def __init__(self, weights):
        self.weights = weights

    def evaluate(self, x):
        significant = jnp.sum(jnp.abs(self.weights) > 1e-3)
        return jnp.exp(-(x**2)) * series(x, self.weights, significant)


def cost(x):
    return Quasiprobability(jnp.array([1.0, 0.5, 0.1, 0.0])).evaluate(x)


if __name__ == "__main__":
    print(cost(0.3))
    print(jax.jit(jax.grad(cost))(0.3))  # finding-also
