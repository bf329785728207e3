# source: jax-ml/jax#5798
# blind: first

import jax
import jax.numpy as jnp


def entropy(p):
    return -jnp.sum(jnp.where(p > 0, p * jnp.log(p), 0.0))  # finding


def routing_loss(gates, beta):
    load = gates.mean(0)
    return jnp.var(load) - beta * entropy(load)


@jax.jit
def gate_grad(gates):
    return jax.grad(routing_loss)(gates, 0.01)


if __name__ == "__main__":
    print(gate_grad(jnp.array([[1.0, 0.0], [1.0, 0.0]])))
