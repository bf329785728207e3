# tables of NumPy and lists, indexed by the result of a jitted function
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def choose(key, wins, losses):
    return jnp.argmax(jax.random.beta(key, 1.0 + wins, 1.0 + losses))


def bandit(steps, key):
    rng = np.random.default_rng(0)
    probs = np.linspace(0.1, 0.6, 5)
    wins, losses = np.zeros(5), np.zeros(5)
    for _ in range(steps):
        key, sub = jax.random.split(key)
        arm = choose(sub, wins, losses)
        if rng.random() < probs[arm]:  # finding
            wins[arm] += 1
        else:
            losses[arm] += 1
    return wins


@jax.jit
def train_step(params, batch):
    grads = jax.grad(lambda p: jnp.mean((batch @ p) ** 2))(params)
    return params - 0.1 * grads, jnp.argmax(jnp.abs(grads))


def train(params, batches):
    hits = np.zeros(100, int)
    for batch in batches:
        params, largest = train_step(params, batch)
        hits[largest] += 1  # finding
    return params, hits


def words(params, batches, vocabulary: list[str]):
    names = [word.lower() for word in vocabulary]
    for batch in batches:
        params, largest = train_step(params, batch)
        word = names[largest]  # finding
    return params, word
