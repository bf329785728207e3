# source: jax-ml/jax#181
# blind: second

import jax
import jax.numpy as jnp


def corrupt(x, rate=0.3, key=jax.random.PRNGKey(42)):  # finding
    keep = jax.random.bernoulli(key, 1 - rate, x.shape)  # finding-also
    return jnp.where(keep, x, 0.0)


@jax.jit
def loss(w, x, noisy):
    return jnp.mean((jnp.tanh(noisy @ w) @ w.T - x) ** 2)


def train(w, batches):
    for x in batches:
        w = w - 0.1 * jax.grad(loss)(w, x, corrupt(x))  # finding-also
    return w


if __name__ == "__main__":
    xs = jax.random.normal(jax.random.key(0), (5, 8, 6))
    print(train(0.1 * jnp.ones((6, 3)), list(xs)).shape)
