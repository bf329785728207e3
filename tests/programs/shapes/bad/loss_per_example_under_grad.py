# blind: eleventh

"""Grad of a function that returns one loss for each example."""
import dataclasses

import jax
import jax.numpy as jnp
import optax


@dataclasses.dataclass(frozen=True)
class LossConfig:
    smoothing: float = 0.1
    reduce: bool = False


def cross_entropy(logits, labels, cfg):
    classes = logits.shape[-1]
    targets = optax.smooth_labels(jax.nn.one_hot(labels, classes), cfg.smoothing)
    losses = optax.softmax_cross_entropy(logits, targets)
    if cfg.reduce:
        return losses.mean()
    return losses


def logits_fn(params, x):
    return jnp.tanh(x @ params["w1"]) @ params["w2"]


def make_step(cfg, lr):
    def objective(params, x, labels):
        return cross_entropy(logits_fn(params, x), labels, cfg)

    @jax.jit
    def step(params, x, labels):
        grads = jax.grad(objective)(params, x, labels)  # finding
        return jax.tree.map(lambda p, g: p - lr * g, params, grads)

    return step


if __name__ == "__main__":
    params = {"w1": jnp.ones((4, 8)) * 0.1, "w2": jnp.ones((8, 3)) * 0.1}
    step = make_step(LossConfig(), 0.1)
    print(step(params, jnp.ones((16, 4)), jnp.zeros(16, jnp.int32)))
