# a constant key under jit

import jax

@jax.jit
def noisy(x):
    return x + jax.random.normal(jax.random.key(0), x.shape)  # finding

@jax.jit
def dropped(x):
    key = jax.random.PRNGKey(42)  # finding
    mask_key, noise_key = jax.random.split(key)
    mask = jax.random.bernoulli(mask_key, 0.9, x.shape)
    return x * mask + jax.random.normal(noise_key, x.shape)

def walk(x):
    def body(x, _):
        return x + jax.random.normal(jax.random.key(1), x.shape), None  # finding
    return jax.lax.scan(body, x, length=10)
