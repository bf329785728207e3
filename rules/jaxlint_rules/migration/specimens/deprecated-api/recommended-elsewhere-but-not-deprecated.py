# recommended elsewhere, but not deprecated
import jax

key = jax.random.PRNGKey(0)
