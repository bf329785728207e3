# flags: --trace
"""A network at rest; --trace counts the calls of functions of JAX, which it replaces for a while."""

import contextlib
import sys

import jax.numpy as jnp

CALLS = {}


def counted(name):
    inner = getattr(jnp, name)

    def call(*values):
        CALLS[name] = CALLS.get(name, 0) + 1
        return inner(*values)

    return call


@contextlib.contextmanager
def instead(name):
    before = getattr(jnp, name)
    setattr(jnp, name, counted(name))
    yield
    setattr(jnp, name, before)


def settled(x):
    y = jnp.tanh(0.9 * x)
    y = y - jnp.mean(y)
    return y / (0.01 + jnp.max(jnp.abs(y)))


def main():
    x = jnp.sin(jnp.arange(64.0))
    with contextlib.ExitStack() as stack:
        for number in range(120):
            if number == 60 and "--trace" in sys.argv:
                stack.enter_context(instead("tanh"))
            x = settled(x)
            if number % 40 == 0:
                print(number, f"{float(x[3]):.4f}")
    print(CALLS)


if __name__ == "__main__":
    main()
