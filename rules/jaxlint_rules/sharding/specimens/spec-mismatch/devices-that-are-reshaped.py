# a mesh of devices that are reshaped
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:8]).reshape(4, 2), ("data", "model"))
other = Mesh(np.array(jax.devices()).reshape(-1, 2), ("data", "model"))
jax.device_put(jnp.ones((100, 32)), NamedSharding(mesh, P(("data", "model"), None)))  # finding
jax.device_put(jnp.ones((96, 32)), NamedSharding(mesh, P(("data", "model"), None)))
jax.device_put(jnp.ones((100, 32)), NamedSharding(other, P("data", None)))
