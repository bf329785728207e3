# an attempt that is repeated if it fails, and one that is repeated in any case

import jax


def fit(scale, x):
    @jax.jit
    def step(x):  # finding
        return x * scale

    return step(x)


def fit_once(scale, x):
    @jax.jit
    def step(x):
        return x + scale

    return step(x)


def main(x):
    for attempt in range(5):
        try:
            x = fit_once(0.5, x)
            break
        except MemoryError:
            print(attempt)
    for _ in range(5):
        x = fit(0.5, x)
    return x


main(jax.numpy.ones(3))
