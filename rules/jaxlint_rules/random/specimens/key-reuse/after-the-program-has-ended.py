# uses that only a program which has ended would reach

import sys

import jax

key = jax.random.key(0)
print(jax.random.normal(key))
if len(sys.argv) > 1:
    sys.exit(2)
print(jax.random.normal(key))  # finding
exit()
other = jax.random.key(1)
print(jax.random.normal(other), jax.random.uniform(other))
