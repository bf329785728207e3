# source: jax-ml/jax#11716
# blind: sixth

"""Feature whitening in a small critic."""
import jax
import jax.numpy as jnp
import optax


def whiten(h, eps=1e-8):
    return (h - h.mean(axis=-1, keepdims=True)) / (jnp.std(h, axis=-1, keepdims=True) + eps)  # finding


def value(params, obs):
    h = jnp.tanh(obs @ params["w1"])
    return whiten(h) @ params["w2"]


def loss(params, obs, returns):
    return jnp.mean((value(params, obs) - returns) ** 2)


def train(key, obs, returns, steps=20):
    k1, k2 = jax.random.split(key)
    params = {"w1": jax.random.normal(k1, (3, 16)), "w2": jax.random.normal(k2, (16,))}
    tx = optax.adam(1e-3)
    state = tx.init(params)

    @jax.jit
    def step(params, state):
        grads = jax.grad(loss)(params, obs, returns)
        updates, state = tx.update(grads, state)
        return optax.apply_updates(params, updates), state

    for _ in range(steps):
        params, state = step(params, state)
    return params


if __name__ == "__main__":
    obs = jnp.ones((8, 3)).at[0].set(0.0)
    print(train(jax.random.key(0), obs, jnp.ones(8))["w2"])
