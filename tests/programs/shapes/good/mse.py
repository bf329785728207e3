import jax
import jax.numpy as jnp


def loss_fn(w, x, y):
    pred = (x @ w).squeeze(-1)
    return jnp.mean((pred - y) ** 2)


def loss_2d(w, x, y):
    return jnp.mean((x @ w - y[:, None]) ** 2)


x = jax.random.normal(jax.random.key(0), (256, 13))
y = jax.random.normal(jax.random.key(1), (256,))
w = jnp.zeros((13, 1))
print(jax.grad(loss_fn)(w, x, y), jax.grad(loss_2d)(w, x, y))
