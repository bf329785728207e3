# an attribute
import jax

run = jax._src.core.eval_jaxpr  # finding
