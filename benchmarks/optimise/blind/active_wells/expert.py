"""Active learning: choose where to drill next with an ensemble of networks that disagree."""
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import optax


@dataclass
class Config:
    pool: int = 600
    test: int = 300
    initial: int = 12
    per_round: int = 6
    rounds: int = 4
    members: int = 3
    hidden: int = 32
    steps: int = 150
    learning_rate: float = 1e-2
    weight_decay: float = 1e-3
    noise: float = 0.05
    seed: int = 6


def yield_map(x):
    """The unknown function: output of a well at a place on the map."""
    hills = np.exp(-8 * ((x - np.array([0.4, -0.3])) ** 2).sum(axis=1)) - 0.8 * np.exp(-5 * ((x + 0.5) ** 2).sum(axis=1))
    return hills + 0.4 * np.sin(4 * x[:, 0]) * np.cos(3 * x[:, 1])


def init_member(config, key):
    k1, k2, k3, k4 = jax.random.split(key, 4)
    h = config.hidden
    return {
        "w1": jax.random.normal(k1, (2, h)) * 1.5,
        "b1": jax.random.uniform(k4, (h,), minval=-1.0, maxval=1.0),
        "w2": jax.random.normal(k2, (h, h)) / jnp.sqrt(h),
        "b2": jnp.zeros(h),
        "w3": jax.random.normal(k3, (h, 1)) / jnp.sqrt(h),
        "b3": jnp.zeros(1),
    }


def predict(params, x):
    h = jnp.tanh(x @ params["w1"] + params["b1"])
    h = jnp.tanh(h @ params["w2"] + params["b2"])
    return (h @ params["w3"] + params["b3"])[:, 0]


def make_functions(config):
    tx = optax.adamw(config.learning_rate, weight_decay=config.weight_decay)

    def fit_member(key, x, y, count):
        """Rows from `count` on are padding."""
        params = init_member(config, key)
        mask = jnp.arange(len(y)) < count

        def loss_fn(params):
            return jnp.where(mask, (predict(params, x) - y) ** 2, 0.0).sum() / count

        def step(carry, _):
            params, opt_state = carry
            loss, grads = jax.value_and_grad(loss_fn)(params)
            updates, opt_state = tx.update(grads, opt_state, params)
            return (optax.apply_updates(params, updates), opt_state), loss

        (params, _), losses = jax.lax.scan(step, (params, tx.init(params)), None, length=config.steps)
        return params, losses[-1]

    @jax.jit
    def fit_ensemble(key, pool, outcomes, rows, count, test, truth):
        keys = jax.random.split(key, config.members + 1)
        members, losses = jax.vmap(fit_member, (0, 0, 0, None))(keys[1:], pool[rows], outcomes[rows], count)
        error = jax.vmap(predict, (0, None))(members, test).mean(axis=0) - truth
        return keys[0], losses.mean(), jnp.sqrt(jnp.mean(error**2)), jax.vmap(predict, (0, None))(members, pool)

    return fit_ensemble


class ActiveLearner:
    def __init__(self, config):
        self.config = config
        self.rng = np.random.default_rng(config.seed)
        self.pool = self.rng.uniform(-1, 1, size=(config.pool, 2))
        self.outcomes = yield_map(self.pool) + config.noise * self.rng.normal(size=config.pool)
        self.test = self.rng.uniform(-1, 1, size=(config.test, 2))
        self.truth = yield_map(self.test)
        self.labelled = list(self.rng.choice(config.pool, size=config.initial, replace=False))
        self.key = jax.random.key(config.seed)
        self.most = config.initial + config.per_round * (config.rounds - 1)
        self.fit_ensemble = make_functions(config)
        columns = (self.pool, self.outcomes, self.test, self.truth)
        self.on_device = jax.device_put(tuple(column.astype(np.float32) for column in columns))

    def train_ensemble(self):
        members, count = self.config.members, len(self.labelled)
        rows = np.zeros((members, self.most), np.int32)
        for row in rows:
            row[:count] = np.array(self.labelled)[self.rng.integers(0, count, size=count)]
        self.key, loss, error, predictions = self.fit_ensemble(
            self.key, *self.on_device[:2], rows, np.float32(count), *self.on_device[2:]
        )
        return loss, error, np.asarray(predictions)

    def acquire(self, predictions):
        candidates = np.setdiff1d(np.arange(self.config.pool), self.labelled)
        predictions = predictions[:, candidates]
        spread = predictions.std(axis=0)
        chosen = []
        while len(chosen) < self.config.per_round:
            best = int(np.argmax(spread))
            chosen.append(int(candidates[best]))
            distance = np.linalg.norm(self.pool[candidates] - self.pool[candidates[best]], axis=1)
            spread = spread * (1 - np.exp(-10 * distance**2))
        self.labelled += chosen
        return predictions.std(axis=0).mean()


def main():
    config = Config()
    learner = ActiveLearner(config)
    for round_number in range(1, config.rounds + 1):
        wells = len(learner.labelled)
        loss, error, predictions = learner.train_ensemble()
        spread = learner.acquire(predictions)
        print(f"round {round_number}: {wells} wells, train loss {loss:.3g}, spread {spread:.3g}, test error {error:.3g}")


if __name__ == "__main__":
    main()
