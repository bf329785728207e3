# entries of a dict of which one is taken, and of which both are

import jax


def initial(kind, key, shape):
    found = {"uniform": jax.random.uniform(key, shape), "normal": jax.random.normal(key, shape)}
    return found[kind]


def at_once(kind, key, shape):
    return {"uniform": jax.random.uniform(key, shape), "normal": jax.random.normal(key, shape)}[kind]


def both(key, shape):
    return {"uniform": jax.random.uniform(key, shape), "normal": jax.random.normal(key, shape)}  # finding


def sum_of_both(key, shape):
    found = {"uniform": jax.random.uniform(key, shape), "normal": jax.random.normal(key, shape)}  # finding
    return found["uniform"] + found["normal"]
