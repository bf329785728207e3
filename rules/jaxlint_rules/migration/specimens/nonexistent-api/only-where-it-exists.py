# only where it exists
import jax

if hasattr(jax, "fancy_new_thing"):
    thing = jax.fancy_new_thing
else:
    thing = None
