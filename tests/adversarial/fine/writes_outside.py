# function: mean_field
# arguments: spins=array, coupling=array, beta=float

"""Everything that acts stands around the step: a file, a counter, a list, a generator."""

import io
import random

import jax
import jax.numpy as jnp

OUT = io.StringIO()
history = []


def mean_field(spins, coupling, beta):
    field = coupling @ spins
    return jnp.tanh(beta * field)


def batches(x):
    for start in range(0, len(x), 8):
        yield x[start : start + 8]


def main():
    random.seed(0)
    coupling = jax.random.normal(jax.random.key(0), (16, 16)) / 4
    spins = jnp.ones(16)
    for number in range(60):
        beta = random.uniform(0.5, 1.5)
        spins = mean_field(spins, coupling, beta)
        history.append(float(spins.mean()))
        print(number, history[-1], file=OUT)
    print("lines", OUT.getvalue().count("\n"), sum(1 for _ in batches(coupling)))


if __name__ == "__main__":
    main()
