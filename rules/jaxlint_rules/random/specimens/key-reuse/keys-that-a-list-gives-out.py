# keys that a list gives out one by one

import jax


def build(sizes, key):
    keys = list(jax.random.split(key, len(sizes)))
    return [jax.random.normal(keys.pop(), (size,)) for size in sizes]


def build_in_a_loop(sizes, key):
    made = []
    keys = list(jax.random.split(key, len(sizes)))
    for size in sizes:
        made.append(jax.random.normal(keys.pop(-1), (size,)))
    return made


def build_the_same(sizes, key):
    made = []
    for size in sizes:
        made.append(jax.random.normal(key, (size,)))  # finding
    return made


def take_one(key):
    keys = list(jax.random.split(key, 3))
    last = keys.pop()
    return jax.random.normal(last), jax.random.normal(last)  # finding
