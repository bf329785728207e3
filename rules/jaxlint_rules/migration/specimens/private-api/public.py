# public
from jax.core import eval_jaxpr

print(eval_jaxpr)
