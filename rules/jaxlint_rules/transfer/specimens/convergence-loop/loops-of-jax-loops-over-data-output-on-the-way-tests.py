# loops of JAX, loops over data, output on the way, tests on the host

import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def step(x):
    return 0.5 * (x + 2.0 / x), x.sum()

def solve(x):
    return jax.lax.while_loop(lambda x: x**2 - 2.0 > 1e-6, lambda x: step(x)[0], x)

def train(x, batches):
    for batch in batches:
        x, loss = step(x + batch)
        if loss < 1e-3:
            break
    return x

def next_power_of_two(counts):
    limit, size = counts.sum() + jnp.ones(()), 1
    while size < limit:
        size *= 2
    return jnp.zeros(size)

def loop_in_python(cond_fun, body_fun, state):
    while cond_fun(state):
        state = body_fun(state)
    return state

def debug(x):
    return loop_in_python(lambda x: x.sum() > 1e-6, lambda x: x * 0.5, x + jnp.ones(3))

def host(x):
    error = np.inf
    while error > 1e-6:
        new = np.sqrt(x)
        error = np.abs(new - x)
        x = new
    return x

def every_so_often(x):
    done = False
    while not done:
        for _ in range(100):
            x, total = step(x)
        done = bool(total > 3.0)
        print(total)
    return x
