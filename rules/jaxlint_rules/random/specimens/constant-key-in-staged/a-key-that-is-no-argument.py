# a key that is no argument

import jax

KEY = jax.random.PRNGKey(0)

@jax.jit
def perturb(x):
    return x + 0.01 * jax.random.normal(KEY, x.shape)  # finding

def mask(x):
    return x * jax.random.bernoulli(KEY, 0.5, x.shape)  # finding

def make_step(seed):
    key = jax.random.key(seed)

    @jax.jit
    def step(x):
        return mask(x) + jax.random.normal(key, x.shape)  # finding

    return step

def run(x):
    step = make_step(0)
    for _ in range(10):
        x = step(perturb(x))
    return x
