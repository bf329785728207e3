# rows that a search, or a random mask, selects in each iteration

import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def step(w, x):
    return w - 0.1 * x.mean(axis=0)

@jax.jit
def pad_step(w, x, keep):
    return w - 0.1 * (x * keep[:, None]).sum(axis=0) / keep.sum()

def dropped(w, x, rng):
    for i in range(300):
        keep = rng.random(len(x)) < 0.9
        w = step(w, x[keep])  # finding
    return w

def by_user(w, x, users):
    found = {}
    for user in np.unique(users):
        rows = np.flatnonzero(users == user)
        found[user] = step(w, jnp.asarray(x[rows]))  # finding
    return found

def by_column(w, x, users):
    for user in set(users):
        w = step(w, x[np.where(users == user)[0], :])  # finding
    return w

def distinct(w, batches):
    for batch in batches:
        w = step(w, w[np.unique(batch)])  # finding
    return w

def weighted(w, x, rng):
    for i in range(300):
        w = pad_step(w, x, rng.random(len(x)) < 0.9)
    return w

def sampled(w, x, users, rng):
    for user in np.unique(users):
        rows = rng.choice(np.flatnonzero(users == user), size=32)
        w = step(w, x[rows])
    return w

def first(w, x, users):
    for user in np.unique(users):
        row = np.flatnonzero(users == user)[0]
        w = step(w, x[row][None])
    return w

def fixed(w, x, y):
    for i in range(300):
        w = step(w, x[np.flatnonzero(y > 0)])
    return w

def padded(w, x, users):
    for user in np.unique(users):
        w = step(w, x[jnp.nonzero(users == user, size=64)[0]])
    return w

rng = np.random.default_rng(0)
x, users = np.ones((2000, 3), np.float32), rng.integers(0, 150, 2000)
w = jnp.zeros(3)
dropped(w, x, rng)
by_user(w, x, users)
by_column(w, x, users)
weighted(w, x, rng)
sampled(w, x, users, rng)
