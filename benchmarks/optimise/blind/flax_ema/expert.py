"""Tabular classifier with flax: warmup-cosine schedule, label smoothing, EMA weights, evaluation per epoch."""
from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

CONFIG = dict(
    n_train=2048, n_test=512, dim=24, classes=6, width=96, batch=64,
    epochs=4, lr=2e-3, ema=0.97, smoothing=0.05, noise=0.1, seed=3,
)


def make_data(cfg):
    rng = np.random.default_rng(cfg["seed"])
    centers = rng.normal(size=(cfg["classes"], 2, cfg["dim"])) * 1.1

    def draw(n):
        y = rng.integers(0, cfg["classes"], size=n)
        mode = rng.integers(0, 2, size=n)
        x = centers[y, mode] + rng.normal(size=(n, cfg["dim"])) * 1.3
        return x.astype(np.float32), y.astype(np.int32)

    return draw(cfg["n_train"]), draw(cfg["n_test"])


class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        h = nn.LayerNorm()(x)
        h = nn.Dense(self.width)(h)
        h = nn.gelu(h)
        h = nn.Dense(self.width)(h)
        return x + h


class Classifier(nn.Module):
    width: int
    classes: int
    depth: int = 2

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.width)(x)
        for _ in range(self.depth):
            x = Block(self.width)(x)
        x = nn.LayerNorm()(x)
        return nn.Dense(self.classes)(x)


def main(cfg):
    (x_train, y_train), (x_test, y_test) = jax.tree.map(jnp.asarray, make_data(cfg))
    model = Classifier(cfg["width"], cfg["classes"])
    key = jax.random.PRNGKey(cfg["seed"])
    key, init_key = jax.random.split(key)
    params = jax.jit(model.init)(init_key, jnp.ones((1, cfg["dim"])))
    ema_params = jax.tree.map(jnp.copy, params)

    steps_per_epoch = cfg["n_train"] // cfg["batch"]
    total = steps_per_epoch * cfg["epochs"]
    schedule = optax.warmup_cosine_decay_schedule(0.0, cfg["lr"], total // 10, total)
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule, weight_decay=1e-3))
    opt_state = tx.init(params)

    def loss_fn(params, x, y, key):
        x = x + cfg["noise"] * jax.random.normal(key, x.shape)
        logits = model.apply(params, x)
        target = optax.smooth_labels(jax.nn.one_hot(y, cfg["classes"]), cfg["smoothing"])
        return optax.softmax_cross_entropy(logits, target).mean()

    def train_step(carry, idx):
        params, ema_params, opt_state, key, step = carry
        key, noise_key = jax.random.split(key)
        loss, grads = jax.value_and_grad(loss_fn)(params, x_train[idx], y_train[idx], noise_key)
        updates, opt_state = tx.update(grads, opt_state, params)
        params = optax.apply_updates(params, updates)
        decay = jnp.minimum(cfg["ema"], (1.0 + step) / (10.0 + step))
        ema_params = jax.tree.map(lambda e, p: decay * e + (1 - decay) * p, ema_params, params)
        return (params, ema_params, opt_state, key, step + 1), loss

    @partial(jax.jit, donate_argnums=0)
    def train_epoch(carry, order):
        carry, losses = jax.lax.scan(train_step, carry, order)
        return carry, losses.mean()

    @jax.jit
    def evaluate(params):
        logits = model.apply(params, x_test)
        pred = jnp.argmax(logits, axis=-1)
        nll = optax.softmax_cross_entropy_with_integer_labels(logits, y_test).mean()
        hit = (pred == y_test).astype(jnp.float32)
        labels = jax.nn.one_hot(y_test, cfg["classes"])
        return hit.mean(), nll, jnp.min(hit @ labels / labels.sum(0))

    rng = np.random.default_rng(cfg["seed"] + 1)
    carry = (params, ema_params, opt_state, key, jnp.zeros((), jnp.int32))
    reports = []
    for epoch in range(cfg["epochs"]):
        order = rng.permutation(cfg["n_train"])[: steps_per_epoch * cfg["batch"]]
        carry, loss = train_epoch(carry, order.reshape(steps_per_epoch, cfg["batch"]))
        reports.append((loss, *evaluate(carry[1])))
    params = carry[0]
    final_acc, final_nll, _ = evaluate(params)
    norm = optax.global_norm(params)
    for epoch, (loss, acc, nll, worst) in enumerate(jax.device_get(reports)):
        lr = float(schedule((epoch + 1) * steps_per_epoch))
        print(f"epoch {epoch} lr {lr:.2e} loss {loss:.3g} ema nll {nll:.3g} acc {acc:.3f} worst recall {worst:.3f}")
    print(f"raw weights: nll {final_nll:.3g} acc {final_acc:.3f}")
    print(f"norm of the weights {norm:.3g}")


if __name__ == "__main__":
    main(CONFIG)
