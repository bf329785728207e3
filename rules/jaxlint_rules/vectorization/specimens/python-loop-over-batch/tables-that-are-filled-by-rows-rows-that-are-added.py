# tables that are filled by rows, rows that are added up

import jax
import jax.numpy as jnp

def energy(x):
    return jnp.sum(jnp.tanh(x))

def filled(xs):
    n = xs.shape[0]
    out = jnp.zeros(n)
    for i in range(n):  # finding
        out = out.at[i].set(energy(xs[i]))
    return out

def gram(xs):
    n = len(xs)
    table = jnp.zeros((n, n))
    for i in range(n):  # finding
        for j in range(i, n):
            k = energy(xs[i] - xs[j])
            table = table.at[i, j].set(k)
            table = table.at[j, i].set(k)
    return table

def moments(xs, ys):
    means, spreads = jnp.zeros((xs.shape[0], 2)), jnp.zeros((xs.shape[0], 2))
    for i in range(xs.shape[0]):  # finding
        for j in range(2):
            row = xs[i] * ys[j]
            means = means.at[i, j].set(row.mean())
            spreads = spreads.at[i, j].set(row.std())
    return means, spreads

@jax.jit
def total(xs):
    return sum(energy(x) for x in xs) / xs.shape[0]  # finding

def clipped(w, xs):
    grad = jax.grad(lambda w, x: energy(w * x))
    each = [grad(w, xs[i]) for i in range(len(xs))]  # finding
    return jax.tree.map(lambda *g: sum(g), *each)

def main():
    xs = jnp.ones((100, 3))
    return filled(xs), gram(xs), moments(xs, xs), total(xs), clipped(xs[0], xs)

main()
