# bounds that are the edge in float32, and bounds that float32 holds
import jax
import jax.numpy as jnp

EPS = 1e-12


def cross_entropy(logits, y):
    p = jnp.clip(jax.nn.sigmoid(logits), EPS, 1 - EPS)
    return -jnp.mean(y * jnp.log(p) + (1 - y) * jnp.log(1 - p))  # finding


def angle(u, v):
    return jnp.arccos(jnp.clip(u @ v, -1 + 1e-8, 1 - 1e-8))  # finding


def tiny(x):
    return jnp.sum(jnp.log(jnp.maximum(x, 1e-50)))  # finding


def held(logits, y):
    p = jnp.clip(jax.nn.sigmoid(logits), 1e-7, 1 - 1e-7)
    return -jnp.mean(y * jnp.log(p) + (1 - y) * jnp.log(1 - p)) + jnp.sum(jnp.log(jnp.maximum(y, 1e-30)))


def stable(logits, y):
    return -jnp.mean(y * jax.nn.log_sigmoid(logits) + (1 - y) * jax.nn.log_sigmoid(-logits))


x = jnp.ones(3)
print(jax.grad(cross_entropy)(40.0 * x, x), jax.grad(angle)(x, x), jax.grad(tiny)(0.0 * x))
print(jax.grad(held)(x, x), jax.grad(stable)(x, x))
