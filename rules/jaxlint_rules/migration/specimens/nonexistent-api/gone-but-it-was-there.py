# gone, but it was there
import jax

tree_map = jax.tree_multimap if False else None
