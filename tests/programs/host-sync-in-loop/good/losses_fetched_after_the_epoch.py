# source: p-doom/jasmine#158
# blind: eighth

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def evaluate(params, batch):
    return {"mse": jnp.mean((batch["x"] @ params - batch["y"]) ** 2)}


def validation(params, loader):
    rows = [evaluate(params, batch) for batch in loader]
    rows = jax.device_get(rows)
    return float(np.mean([r["mse"] for r in rows]))


if __name__ == "__main__":
    print(validation(jnp.ones(3), [{"x": jnp.ones((4, 3)), "y": jnp.ones(4)}] * 3))
