# the same key twice
import jax

def sample(key):
    a = jax.random.normal(key)
    b = jax.random.uniform(key)  # finding: key-reuse
    return a + b

sample(jax.random.key(0))
