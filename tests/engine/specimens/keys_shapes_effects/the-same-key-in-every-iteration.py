# the same key in every iteration
import jax

def sample(key):
    total = 0.0
    for _ in range(4):
        total = total + jax.random.normal(key)  # finding: key-reuse
    return total

sample(jax.random.key(0))
