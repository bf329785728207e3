# a loop that computes the same new state in each iteration, and loops that change something

import time

import jax
import jax.numpy as jnp


@jax.jit
def backward(x, u, weight):
    return weight * x @ u


@jax.jit
def forward(x, u, gain):
    return x + gain, u - gain.sum()


@jax.jit
def descend(x, rate):
    return x - rate * x


@jax.jit
def propose(x, key):
    return x + jax.random.normal(key, x.shape)


def optimise(x, u, steps):
    costs = []
    for _ in range(steps):
        gain = backward(x, u, 0.1)
        new_x, u_new = forward(x, u, gain)  # finding
        costs.append(new_x.sum())
    return new_x, u_new, costs


def optimise_and_keep(x, u, steps):
    for _ in range(steps):
        gain = backward(x, u, 0.1)
        new_x, u_new = forward(x, u, gain)
        x = new_x
        u = u_new
    return x, u


def keep_the_best(x, u, steps):
    for _ in range(steps):
        new_x, u_new = forward(x, u, backward(x, u, 0.1))
        if new_x.sum() < x.sum():
            x, u = new_x, u_new
    return x, u


def search_along_a_line(x, steps):
    rate = 1.0
    for _ in range(steps):
        new_x = descend(x, rate)
        if new_x.sum() < x.sum():
            break
        rate = rate * 0.5
    return new_x


def try_rates(x, rates):
    found = []
    for rate in rates:
        new_x = descend(x, rate)
        found.append(new_x)
    return found


def draw(x, key, steps):
    drawn = []
    for _ in range(steps):
        key, one = jax.random.split(key)
        x_next = propose(x, one)
        drawn.append(x_next)
    return drawn


def measure(x, steps):
    start = time.perf_counter()
    for _ in range(steps):
        new_x = descend(x, 0.1)
        jax.block_until_ready(new_x)
    return time.perf_counter() - start


def from_an_object(model, x, steps):
    for _ in range(steps):
        new_x = descend(x, model.rate)
        model.advance(new_x)
    return x


def filled(xs, steps):
    for i in range(steps):
        xs[0] = i
        xs_new = descend(xs, 0.1)
        print(xs_new)
