# comparisons that may be true

import jax
import numpy as np
from jax.sharding import PartitionSpec as P


def to_host(tree):
    return jax.tree.map(lambda x: np.asarray(x) if isinstance(x, jax.Array) else x, tree)


def kind(x, annotation):
    return type(x) is np.ndarray or annotation is jax.Array


def is_data(names):
    spec = P(*names)
    return spec == P("data") or tuple(spec) == ("data",)
