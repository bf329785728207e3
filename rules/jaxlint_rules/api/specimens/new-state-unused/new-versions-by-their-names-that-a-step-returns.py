# new versions by their names, that a step returns and a loop drops

import jax
import jax.numpy as jnp

@jax.jit
def step(model, statistics, x):
    new_statistics = jax.tree.map(lambda s, v: 0.9 * s + 0.1 * v.mean(0), statistics, {"mean": x})
    model = model - 0.1 * jnp.mean(x - new_statistics["mean"])
    return model, new_statistics, jnp.mean(x)

@jax.jit
def predict(model, statistics, x):
    new_statistics = {"mean": 0.9 * statistics["mean"] + x.mean(0)}
    return model * x, new_statistics

@jax.jit
def losing(model, key, x):
    key, sub = jax.random.split(key)
    return model + jax.random.normal(sub, model.shape), key, x

def train(model, statistics, batches):
    for x in batches:
        model, _, loss = step(model, statistics, x)  # finding
    return model, statistics

def keeping(model, statistics, batches):
    for x in batches:
        model, statistics, _ = step(model, statistics, x)
    return model, statistics

def evaluate(model, statistics, batches):
    total = 0.0
    for x in batches:
        outputs, _ = predict(model, statistics, x)
        total = total + outputs.sum()
    return total
