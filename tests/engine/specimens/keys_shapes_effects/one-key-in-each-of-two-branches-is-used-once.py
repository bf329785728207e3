# one key in each of two branches is used once
import jax

def sample(key, gaussian):
    if gaussian:
        return jax.random.normal(key)
    else:
        return jax.random.uniform(key)

def folded(key):
    return [jax.random.normal(jax.random.fold_in(key, i)) for i in range(3)]

sample(jax.random.key(0), True)
folded(jax.random.key(0))
