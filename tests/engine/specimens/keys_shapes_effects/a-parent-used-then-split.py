# a parent used, then split
import jax

def loader(key, n):
    perm = jax.random.permutation(key, n)
    (key,) = jax.random.split(key, 1)  # finding: key-reuse
    return perm, key

loader(jax.random.key(0), 4)
