# lists that are put behind each other by sum
import jax.numpy as jnp

def compare(dtypes, comparator):
    operands = sum([[jnp.array(0, dtype)] * 2 for dtype in dtypes], [])
    operands[1] = jnp.array(1)
    return comparator(*operands)
