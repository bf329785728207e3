# in a script, and in a function that it calls

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((1,), ("data",))

def main():
    x = jnp.ones((8, 128))
    x = jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("data")))  # finding
    return x.sum()

if __name__ == "__main__":
    main()
