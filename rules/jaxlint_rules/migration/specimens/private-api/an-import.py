# an import
from jax._src.core import eval_jaxpr  # finding

run = eval_jaxpr
