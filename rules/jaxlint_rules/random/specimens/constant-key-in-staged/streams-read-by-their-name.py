# streams read by their name

import jax
import jax.numpy as jnp
from flax import nnx

def loss_fn(model, x):
    rngs = nnx.Rngs(noise=0)  # finding
    noise = jax.random.normal(rngs.noise(), x.shape)
    return jnp.mean((model(x + noise) - noise) ** 2)

@nnx.jit
def step(model, x):
    return nnx.grad(loss_fn)(model, x)

@nnx.jit
def noisy(model, x, rngs):
    return model(x + jax.random.normal(rngs.noise(), x.shape))

@nnx.jit
def counted(x):
    rngs = nnx.Rngs(0)
    return x * len(rngs)
