# old order alone

import jax
from jax.experimental import pallas as pl

first = pl.BlockSpec((8, 128), lambda i: (i, 0))  # finding
second = pl.BlockSpec(index_map=lambda i: (i, 0), block_shape=(8, 128))  # finding
