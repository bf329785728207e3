# lists whose length changes, or is unknown

import jax
import jax.numpy as jnp

ROWS = 128


def fit(row, noise):
    return row * noise


def main(y, chosen, extra):
    run = jax.vmap(fit)
    noise = jnp.ones(16)
    some = jnp.stack([y * n for n in range(20) if n in chosen])
    longer = [jnp.ones(ROWS) * n for n in range(15)]
    longer.append(jnp.zeros(ROWS))
    more = [jnp.ones(ROWS) * n for n in range(15)]
    more += [jnp.zeros(ROWS)]
    fewer = [jnp.ones(ROWS) * n for n in range(17)]
    del fewer[0]
    taken = [jnp.ones(ROWS) * n for n in range(17)]
    taken.pop()
    cut = [jnp.ones(ROWS) * n for n in range(18)]
    cut[1:3] = []
    known = [jnp.ones(ROWS), jnp.zeros(ROWS), y]
    del known[-1]
    many = [jnp.ones(ROWS) * n * m for n in range(4) for m in range(4)]
    joined = [jnp.ones(ROWS) * n for n in range(8)] + [jnp.zeros(ROWS) * n for n in range(8)]
    for lists in (longer, more, fewer, taken, cut, many, joined):
        run(jnp.stack(lists), noise)
    two = run(jnp.stack(known), jnp.ones(2)), run(jnp.stack(many), noise), run(jnp.stack(cut), noise)
    return run(some, noise), run(jnp.stack(fewer), noise), run(jnp.stack(taken), noise), two
