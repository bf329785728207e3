# buffers of known size that a loop takes from step to step: in a variable, and in a tuple that a helper builds again

from typing import NamedTuple

import jax
import jax.numpy as jnp

ROWS = 200_000


class Memory(NamedTuple):
    seen: jax.Array
    paid: jax.Array
    filled: int


def remember(memory, seen, paid):
    slot = memory.filled % ROWS
    return Memory(
        memory.seen.at[slot].set(seen),  # finding
        memory.paid.at[slot].set(paid),
        memory.filled + 1,
    )


@jax.jit
def act(seen, key):
    return jnp.tanh(seen + jax.random.normal(key, seen.shape)), -jnp.sum(seen**2)


def play(key):
    memory = Memory(jnp.zeros((ROWS, 12)), jnp.zeros(ROWS), 0)
    seen = jnp.ones(12)
    for _ in range(300):
        key, sub = jax.random.split(key)
        seen, paid = act(seen, sub)
        memory = remember(memory, seen, paid)
    return memory


def histogram(draws):
    counts = jnp.zeros(5_000_000, jnp.int32)
    for step in range(400):
        counts = counts.at[draws[step]].add(1)  # finding
    return counts


print(play(jax.random.key(0)).filled)
print(histogram(jax.random.randint(jax.random.key(1), (400, 8), 0, 5_000_000)).sum())
