# blind: twenty-first

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import optax


@dataclasses.dataclass
class MetricLog:
    every: int
    pending: list = dataclasses.field(default_factory=list)
    history: list = dataclasses.field(default_factory=list)

    def add(self, step, metrics):
        self.pending.append(metrics)
        if (step + 1) % self.every == 0:
            stacked = jax.tree.map(lambda *xs: jnp.stack(xs).mean(), *self.pending)
            row = {name: float(value) for name, value in stacked.items()}
            self.history.append((step + 1, row))
            self.pending.clear()


tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-2))


def loss_fn(params, x, y):
    hidden = jnp.tanh(x @ params["w1"] + params["b1"])
    return jnp.mean((hidden @ params["w2"] - y) ** 2)


@jax.jit  # finding-other
def step_fn(params, opt_state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    updates, opt_state = tx.update(grads, opt_state)
    metrics = {"loss": loss, "grad_norm": optax.global_norm(grads)}
    return optax.apply_updates(params, updates), opt_state, metrics


def main():
    rng = np.random.default_rng(0)
    params = {"w1": jnp.asarray(rng.normal(size=(4, 32)) * 0.5, jnp.float32),
              "b1": jnp.zeros((32,)), "w2": jnp.zeros((32,))}
    opt_state = tx.init(params)
    log = MetricLog(every=100)
    for step in range(400):
        x = rng.normal(size=(64, 4)).astype(np.float32)
        y = np.cos(x[:, 0]) + 0.5 * x[:, 1]
        params, opt_state, metrics = step_fn(params, opt_state, x, y)
        log.add(step, metrics)
    for step, row in log.history:
        print(step, row)
    assert len(log.history) == 4
    assert log.history[-1][1]["loss"] < log.history[0][1]["loss"]


if __name__ == "__main__":
    main()
