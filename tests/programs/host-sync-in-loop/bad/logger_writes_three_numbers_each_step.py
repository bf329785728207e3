# blind: sixteenth

"""Language-model trainer with a metric logger that writes a JSON line for each step."""

import json
import time
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax


class MetricLogger:
    def __init__(self, path):
        self.file = open(path, "w")
        self.start = time.time()

    def log(self, step, metrics):
        row = {name: float(value) for name, value in metrics.items()}  # finding
        row["step"] = step
        row["elapsed"] = time.time() - self.start
        self.file.write(json.dumps(row) + "\n")

    def close(self):
        self.file.close()


def init(key, vocab=512, dim=128):
    k1, k2, k3 = jax.random.split(key, 3)
    return {
        "embed": jax.random.normal(k1, (vocab, dim)) * 0.02,
        "mix": jax.random.normal(k2, (dim, dim)) / np.sqrt(dim),
        "out": jax.random.normal(k3, (dim, vocab)) / np.sqrt(dim),
    }


def loss_fn(params, tokens):
    x = params["embed"][tokens[:, :-1]]
    h = jnp.cumsum(x, axis=1) / jnp.arange(1, x.shape[1] + 1)[:, None]
    logits = jax.nn.gelu(h @ params["mix"]) @ params["out"]
    losses = optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:])
    return losses.mean()


class Trainer:
    def __init__(self, lr=1e-3, total_steps=1000):
        schedule = optax.warmup_cosine_decay_schedule(0.0, lr, 100, total_steps)
        self.tx = optax.adamw(schedule)
        self.params = init(jax.random.PRNGKey(0))
        self.opt_state = self.tx.init(self.params)
        self.step_fn = jax.jit(self._step, donate_argnums=(0, 1))

    def _step(self, params, opt_state, tokens):
        loss, grads = jax.value_and_grad(loss_fn)(params, tokens)
        updates, opt_state = self.tx.update(grads, opt_state, params)
        params = optax.apply_updates(params, updates)
        metrics = {
            "loss": loss,
            "grad_norm": optax.global_norm(grads),
            "param_norm": optax.global_norm(params),
        }
        return params, opt_state, metrics

    def train(self, loader, logger):
        for step, tokens in enumerate(loader):
            self.params, self.opt_state, metrics = self.step_fn(self.params, self.opt_state, tokens)
            logger.log(step, metrics)  # finding-also


def loader(n_steps, batch=32, length=64, vocab=512):
    rng = np.random.default_rng(0)
    for _ in range(n_steps):
        yield rng.integers(0, vocab, (batch, length)).astype(np.int32)


def main(n_steps=1000):
    logger = MetricLogger("/tmp/metrics.jsonl")
    trainer = Trainer(total_steps=n_steps)
    trainer.train(loader(n_steps), logger)
    logger.close()


if __name__ == "__main__":
    main(50)
