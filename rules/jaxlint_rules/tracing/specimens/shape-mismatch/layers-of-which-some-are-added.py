# a loop over layers of several widths, of which some are added to their input; the last sum fits no layer

import jax
import jax.numpy as jnp

WIDTHS = [3, 32, 32, 32, 1]


def make(key, added):
    keys = jax.random.split(key, len(WIDTHS) - 1)
    layers = [jax.random.normal(k, (i, o)) for k, i, o in zip(keys, WIDTHS[:-1], WIDTHS[1:])]
    return layers, frozenset(added)


def forward(layers, added, x):
    for number, layer in enumerate(layers[:-1]):
        h = jnp.tanh(x @ layer)
        x = x + h if number in added else h
    return x @ layers[-1]


def wider(layers, added, x):
    for number, layer in enumerate(layers[:-1]):
        h = jnp.tanh(x @ layer)
        if number in added:
            h = h + x
        x = h
    return x @ layers[-1]


layers, added = make(jax.random.key(0), [1, 2])
print(forward(layers, added, jnp.ones((8, 3))), wider(layers, added, jnp.ones((8, 3))))

x = jnp.ones((8, 3))
for number in range(2):
    try:
        print(x + jnp.ones((8, 4)) if number else x)
    except TypeError:
        print("as it should")
for number in range(2):
    x = x + jnp.ones((8, 5))  # finding
