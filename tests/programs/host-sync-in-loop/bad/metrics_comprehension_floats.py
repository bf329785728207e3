# source: google/flax#1047

import jax
import jax.numpy as jnp
import numpy as np


def metrics_fn(logits, labels):
    return {
        "acc": jnp.mean(logits.argmax(-1) == labels),
        "conf": jnp.mean(jax.nn.softmax(logits).max(-1)),
    }


@jax.jit
def eval_step(params, batch):
    return metrics_fn(batch["image"] @ params, batch["label"])


def to_host(metrics):
    return {name: float(value) for name, value in metrics.items()}  # finding


def evaluate(params, loader):
    rows = []
    for batch in loader:
        rows.append(to_host(eval_step(params, batch)))  # finding-also
    return {name: np.mean([row[name] for row in rows]) for name in rows[0]}


if __name__ == "__main__":
    loader = [{"image": np.ones((4, 3), np.float32), "label": np.zeros(4, int)}] * 3
    print(evaluate(jnp.ones((3, 2)), loader))
