# devices that a function puts in shape

import jax
import numpy as np
from jax.sharding import Mesh

three = Mesh(np.reshape(jax.devices(), (1, 4, 2)), ["data", "fsdp", "tensor"])
two = Mesh(np.reshape(jax.devices(), (4, 2)), ["data", "fsdp", "tensor"])  # finding
