# put there by the program
import jax

jax.my_registry = {}
jax.my_registry["a"] = 1
