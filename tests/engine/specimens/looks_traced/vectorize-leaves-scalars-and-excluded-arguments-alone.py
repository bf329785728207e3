# vectorize leaves scalars and excluded arguments alone
import jax.numpy as jnp

magnitude = jnp.vectorize(lambda a: a if a > 0 else -a)
magnitude(1.0)
jnp.vectorize(lambda a, b: a if b > 0 else -a, excluded=(1,))(jnp.ones(3), 1)
