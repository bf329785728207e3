# imports from a function
from jax.checkpoint import checkpoint  # finding
from jax import jit, checkpoint as remat
import jax

cost = jax.jit(remat(lambda x: x)).lower(1.0).compile().cost_analysis()
doc = jax.vmap.__doc__, jax.custom_vjp.defvjp
