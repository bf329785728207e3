# source: google/flax#2111
# blind: first

from collections import defaultdict

import jax
import jax.numpy as jnp


@jax.jit
def eval_step(params, batch):
    logits = batch["image"] @ params
    return {
        "accuracy": jnp.mean(jnp.argmax(logits, -1) == batch["label"]),
        "entropy": -jnp.mean(jax.nn.log_softmax(logits)),
    }


def evaluate(params, batches):
    history = defaultdict(list)
    for batch in batches:
        metrics = jax.device_get(eval_step(params, batch))  # finding
        for name, value in metrics.items():
            history[name].append(value)
    return {name: sum(values) / len(values) for name, values in history.items()}


if __name__ == "__main__":
    batch = {"image": jnp.ones((8, 5)), "label": jnp.zeros(8, jnp.int32)}
    print(evaluate(jnp.ones((5, 3)), [batch] * 40))
