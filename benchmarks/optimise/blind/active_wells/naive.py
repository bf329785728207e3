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


class EnsembleMember:
    def __init__(self, config, key):
        self.params = init_member(config, key)
        self.tx = optax.adamw(config.learning_rate, weight_decay=config.weight_decay)
        self.opt_state = self.tx.init(self.params)
        self.steps = config.steps

    def fit(self, x, y):
        @jax.jit
        def step(params, opt_state, x, y):
            loss, grads = jax.value_and_grad(lambda p: jnp.mean((predict(p, x) - y) ** 2))(params)
            updates, opt_state = self.tx.update(grads, opt_state, params)
            return optax.apply_updates(params, updates), opt_state, loss

        losses = []
        for _ in range(self.steps):
            self.params, self.opt_state, loss = step(self.params, self.opt_state, x, y)
            losses.append(float(loss))
        return losses[-1]


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

    def train_ensemble(self):
        x = self.pool[self.labelled]
        y = self.outcomes[self.labelled]
        self.key, *keys = jax.random.split(self.key, self.config.members + 1)
        members, losses = [], []
        for key in keys:
            member = EnsembleMember(self.config, key)
            rows = self.rng.integers(0, len(x), size=len(x))
            losses.append(member.fit(jnp.asarray(x[rows]), jnp.asarray(y[rows])))
            members.append(member)
        return members, np.mean(losses)

    def acquire(self, members):
        candidates = [i for i in range(self.config.pool) if i not in self.labelled]
        predictions = np.stack([np.asarray(predict(m.params, jnp.asarray(self.pool[candidates]))) for m in members])
        spread = predictions.std(axis=0)
        chosen = []
        while len(chosen) < self.config.per_round:
            best = int(np.argmax(spread))
            chosen.append(candidates[best])
            distance = np.linalg.norm(self.pool[candidates] - self.pool[candidates[best]], axis=1)
            spread = spread * (1 - np.exp(-10 * distance**2))
        self.labelled += chosen
        return predictions.std(axis=0).mean()

    def test_error(self, members):
        predictions = [predict(m.params, jnp.asarray(self.test)) for m in members]
        error = sum(predictions) / len(predictions) - self.truth
        return float(jnp.sqrt(jnp.mean(error**2)))


def main():
    config = Config()
    learner = ActiveLearner(config)
    for round_number in range(1, config.rounds + 1):
        members, loss = learner.train_ensemble()
        wells = len(learner.labelled)
        error = learner.test_error(members)
        spread = learner.acquire(members)
        print(f"round {round_number}: {wells} wells, train loss {loss:.3g}, spread {spread:.3g}, test error {error:.3g}")


if __name__ == "__main__":
    main()
