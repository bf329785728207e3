# names that are there, modules and attributes of objects among them
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

jax.config.update("jax_enable_x64", True)
version = jax.__version__
dtype = jnp.float32.dtype
table = jnp.linalg.norm(jnp.ones(3)), jax.lax.Precision.HIGHEST, pl.pallas_call
