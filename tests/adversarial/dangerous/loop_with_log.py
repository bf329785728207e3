# function: integrate
# arguments: x=array, rates=array
# refused: trace.append(value)

"""A loop whose helper keeps what it saw; the loop itself only computes."""

import jax
import jax.numpy as jnp

trace = []


def observe(value):
    trace.append(value)
    return value


def integrate(x, rates):
    for rate in rates:
        x = observe(x - rate * jnp.sin(x))
    return x


def main():
    rates = jnp.linspace(0.0, 0.1, 200)
    x = jax.random.normal(jax.random.key(0), (8,))
    for _ in range(5):
        x = integrate(x, rates)
    print("x", x, "seen", len(trace))


if __name__ == "__main__":
    main()
