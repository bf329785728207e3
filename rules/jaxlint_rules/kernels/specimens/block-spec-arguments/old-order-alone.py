# old order alone

import jax
from jax.experimental import pallas as pl

first = pl.BlockSpec(lambda i: (i, 0), (8, 128))  # finding
second = pl.BlockSpec(lambda i: (i, 0), block_shape=(8, 128))  # finding
