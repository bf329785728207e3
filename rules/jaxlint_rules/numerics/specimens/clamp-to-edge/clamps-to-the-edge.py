# clamps to the edge

import jax
import jax.numpy as jnp

def distance(a, b):
    d2 = jnp.sum(jnp.square(a - b), axis=-1)
    return jnp.sqrt(jnp.maximum(d2, 0.0))  # finding

def angle(a, b):
    cosine = jnp.dot(a, b)
    return jnp.arccos(jnp.clip(cosine, -1.0, 1.0))  # finding

class Rotation:
    def pitch(self, q):
        return jnp.arcsin(jnp.clip(2 * (q[0] * q[2]), min=-1, max=1)) + jnp.log(jax.nn.relu(q[3]))  # finding

def loss(a, b):
    return jnp.sum(distance(a, b)) + angle(a, b) + Rotation().pitch(a)

grad = jax.grad(loss)
