# source: pyro-ppl/numpyro#821

import jax
import jax.numpy as jnp
import numpy as np


def is_concrete(x):
    return not isinstance(x, jax.core.Tracer)


def validate_probabilities(p):
    if is_concrete(p) and np.any(np.asarray(p) < 0):
        raise ValueError("probabilities must not be negative")
    return p / p.sum()


@jax.jit
def expected_value(p, values):
    return jnp.dot(validate_probabilities(p), values)


def main():
    p = jnp.array([0.2, 0.3, 0.5])
    print(validate_probabilities(p), expected_value(p, jnp.arange(3.0)))


if __name__ == "__main__":
    main()
