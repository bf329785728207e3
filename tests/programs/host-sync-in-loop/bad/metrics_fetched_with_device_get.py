# source: fairchem#2195
# blind: eighth

import jax
import jax.numpy as jnp


@jax.jit
def evaluate(params, batch):
    pred = batch["x"] @ params
    return {"mse": jnp.mean((pred - batch["y"]) ** 2), "mae": jnp.mean(jnp.abs(pred - batch["y"]))}


def validation(params, loader):
    rows = []
    for batch in loader:
        metrics = evaluate(params, batch)
        rows.append(jax.device_get(metrics))  # finding
    return {k: sum(r[k] for r in rows) / len(rows) for k in rows[0]}


if __name__ == "__main__":
    print(validation(jnp.ones(3), [{"x": jnp.ones((4, 3)), "y": jnp.ones(4)}] * 3))
