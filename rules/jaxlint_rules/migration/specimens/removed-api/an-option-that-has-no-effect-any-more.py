# an option that has no effect any more
import jax

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_array", True)  # finding
