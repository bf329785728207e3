# an optimizer that each iteration takes from its settings, and a batch that it takes apart

import jax
import jax.numpy as jnp
import optax


def fit(optimizer, theta):
    state = optimizer.init(theta)

    @jax.jit
    def update(theta, state):
        updates, state = optimizer.update(2 * theta, state)
        return optax.apply_updates(theta, updates), state

    for _ in range(100):
        theta, state = update(theta, state)
    return theta


def shifted(x):
    @jax.jit
    def shift(x):  # finding
        return x + 1.0

    return shift(x)


def study(configs, theta):
    results = {}
    for config in configs:
        optimizer = config["optimizer"]
        results[config["name"]] = fit(optimizer, theta)
    return results


def shifts(batches):
    found = []
    for batch in batches:
        x = batch["x"]
        found.append(shifted(x))
    return found


study([{"name": "adam", "optimizer": optax.adam(0.1)}, {"name": "sgd", "optimizer": optax.sgd(0.1)}], jnp.ones(3))
shifts([{"x": jnp.ones(3)}, {"x": jnp.zeros(3)}])


class Study:
    def __init__(self, configs, theta):
        self.configs, self.theta = configs, theta

    def run_one(self, name, optimizer):
        @jax.jit
        def update(theta, state):
            updates, state = optimizer.update(2 * theta, state)
            return optax.apply_updates(theta, updates), state

        return update(self.theta, optimizer.init(self.theta))

    def run_scaled(self, name, factor):
        @jax.jit
        def scale(theta):  # finding
            return factor * theta

        return scale(self.theta)

    def run_all(self):
        results = {}
        for config in self.configs:
            name, optimizer = config["name"], config["optimizer"]
            results[name] = self.run_one(config["name"], config["optimizer"])
            results[name] = self.run_scaled(name, 2.0)
        return results
