# a module whose constructor makes a function, created for each subject; one that takes a function of the module, and one model

from typing import Callable

import equinox as eqx
import jax
import jax.numpy as jnp


def kinematics(q):
    return jnp.cos(q)


class Fresh(eqx.Module):
    scale: jax.Array
    forward: Callable

    def __init__(self, fk):
        self.scale = jnp.ones(3)
        self.forward = jax.jit(lambda q: fk(q))

    def __call__(self, t):
        return self.forward(t * self.scale)


class Named(eqx.Module):
    scale: jax.Array
    forward: Callable

    def __init__(self, fk):
        self.scale = jnp.ones(3)
        self.forward = fk

    def __call__(self, t):
        return self.forward(t * self.scale)


@eqx.filter_jit
def step(model, t):
    grads = eqx.filter_grad(lambda m: jnp.mean(m(t)))(model)
    return eqx.apply_updates(model, grads)


def fit(t, steps=100):
    model = Fresh(kinematics)
    for _ in range(steps):
        model = step(model, t)  # finding
    return model


def fit_named(t, steps=100):
    model = Named(kinematics)
    for _ in range(steps):
        model = step(model, t)
    return model


def fit_once(t, steps=100):
    model = Fresh(kinematics)
    for _ in range(steps):
        model = step(model, t)
    return model


def main(subjects):
    found = []
    for t in subjects:
        found.append((fit(t), fit_named(t)))
    return found, fit_once(subjects[0])


main([jnp.ones(3) * i for i in range(40)])
