# a lambda that is jitted at once
import jax
import jax.numpy as jnp

jax.jit(lambda x: x if x.sum() > 0 else -x)(jnp.ones(3))  # finding: tracer-branch
