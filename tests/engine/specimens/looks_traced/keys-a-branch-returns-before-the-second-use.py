# keys: a branch returns before the second use
import jax

def sample(key, kind, shape=()):
    if kind == "normal":
        return jax.random.normal(key, shape)
    if kind == "uniform":
        return jax.random.uniform(key, shape)
    match kind:
        case "coin":
            return jax.random.bernoulli(key)
        case _:
            raise ValueError(kind)

def retry(key):
    while True:
        key, sub = jax.random.split(key)
        value = jax.random.normal(sub)
        if value > -10:
            return value

sample(jax.random.key(0), "coin")
retry(jax.random.key(1))
