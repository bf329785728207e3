# what begins as zero, or as what it is compared with

import jax
import jax.numpy as jnp

def residual(pose, x):
    angle = jnp.sqrt(jnp.sum(pose[:3] ** 2))  # finding
    return jnp.sum(x * angle)

@jax.jit
def refine(pose, x):
    def body(pose, _):
        return pose - 1e-2 * jax.grad(residual)(pose, x), None

    return jax.lax.scan(body, pose, None, length=100)[0]

def penalised(w, anchor, x):
    return jnp.mean((x @ w) ** 2) + jnp.linalg.norm(w - anchor)  # finding

def speed(v):
    return jnp.sqrt(v @ v)  # finding

def fly(v0):
    def body(v, _):
        return v - 0.1 * speed(v) * v, None

    return jnp.sum(jax.lax.scan(body, v0, None, length=5)[0])

@jax.jit
def correct(v0):
    return v0 - jax.grad(fly)(v0)

correct(jnp.zeros(2))

def other(w, bias, x):
    return jnp.linalg.norm(w) + jnp.linalg.norm(x @ w) + jnp.linalg.norm(w[1:] - w[:-1]) + jnp.sum(bias**2)

def unrolled(w, x):
    def body(h, row):
        return h * 0.5 + jnp.tanh(row @ w) + jnp.linalg.norm(h), None

    return jnp.sum(jax.lax.scan(body, jnp.zeros(()), x)[0])

def main(x):
    w = jnp.ones(3)
    jax.grad(unrolled)(w, x)
    jax.grad(penalised)(w, w, x)
    jax.grad(other, argnums=(0, 1))(w, jnp.zeros(3), x)
    print(jnp.linalg.norm(jnp.zeros(3)))
    return refine(jnp.zeros(6), x)

main(jnp.ones((2, 3)))
