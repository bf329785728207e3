"""Tabular classifier with flax: warmup-cosine schedule, label smoothing, EMA weights, evaluation per epoch."""
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
    (x_train, y_train), (x_test, y_test) = make_data(cfg)
    model = Classifier(cfg["width"], cfg["classes"])
    key = jax.random.PRNGKey(cfg["seed"])
    key, init_key = jax.random.split(key)
    params = model.init(init_key, jnp.ones((1, cfg["dim"])))
    ema_params = params

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

    grad_fn = jax.jit(jax.value_and_grad(loss_fn))

    def evaluate(params):
        correct = 0
        nll = 0.0
        confusion = np.zeros((cfg["classes"], cfg["classes"]))
        for i in range(0, cfg["n_test"], 32):
            xb, yb = x_test[i : i + 32], y_test[i : i + 32]
            logits = model.apply(params, xb)
            logp = jax.nn.log_softmax(logits)
            pred = jnp.argmax(logits, axis=-1)
            correct += int(jnp.sum(pred == yb))
            for j in range(len(yb)):
                nll -= float(logp[j, yb[j]])
                confusion[yb[j], int(pred[j])] += 1
        recall = np.diag(confusion) / confusion.sum(1)
        return correct / cfg["n_test"], nll / cfg["n_test"], recall.min()

    rng = np.random.default_rng(cfg["seed"] + 1)
    step = 0
    for epoch in range(cfg["epochs"]):
        order = rng.permutation(cfg["n_train"])
        losses = []
        for i in range(steps_per_epoch):
            idx = order[i * cfg["batch"] : (i + 1) * cfg["batch"]]
            key, noise_key = jax.random.split(key)
            loss, grads = grad_fn(params, x_train[idx], y_train[idx], noise_key)
            updates, opt_state = tx.update(grads, opt_state, params)
            params = optax.apply_updates(params, updates)
            decay = min(cfg["ema"], (1 + step) / (10 + step))
            ema_params = jax.tree_util.tree_map(lambda e, p: decay * e + (1 - decay) * p, ema_params, params)
            losses.append(float(loss))
            step += 1
        acc, nll, worst = evaluate(ema_params)
        print(f"epoch {epoch} lr {float(schedule(step)):.2e} loss {np.mean(losses):.3g} ema nll {nll:.3g} acc {acc:.3f} worst recall {worst:.3f}")
    acc, nll, _ = evaluate(params)
    norm = jnp.sqrt(sum(jnp.sum(p**2) for p in jax.tree_util.tree_leaves(params)))
    print(f"raw weights: nll {nll:.3g} acc {acc:.3f}")
    print(f"norm of the weights {norm:.3g}")


if __name__ == "__main__":
    main(CONFIG)
