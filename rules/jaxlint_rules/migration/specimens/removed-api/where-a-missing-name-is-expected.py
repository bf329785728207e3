# where a missing name is expected
import contextlib

import jax

doubled = {"a": 2}
with contextlib.suppress(ImportError, AttributeError):
    from jax import tree_map

    doubled = tree_map(lambda x: 2 * x, {"a": 1})
with contextlib.suppress(AttributeError):
    doubled = jax.tree_multimap(lambda x: x, doubled)
