# the stream of parameters, handed to modules that have them

import flax.linen as nn
import jax
import jax.numpy as jnp

net = nn.Dense(3)
x = jnp.ones((2, 3))
variables = net.init(jax.random.key(0), x)
streams = {"params": jax.random.key(1)}
first = net.apply(variables, x, rngs=streams)
second = net.apply(variables, first, rngs=streams)
noise = {"dropout": jax.random.key(2)}
third = net.apply(variables, x, rngs=noise)
fourth = net.apply(variables, third, rngs=noise)  # finding
