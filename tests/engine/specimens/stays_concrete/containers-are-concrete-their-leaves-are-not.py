# containers are concrete, their leaves are not
import jax
import jax.numpy as jnp

@jax.jit
def step(params, batch):
    x = batch["x"]
    if "mask" in batch:
        x = x * batch["mask"]
    if params:
        for w, b in params[:-1]:
            x = jnp.tanh(x @ w + b)
    for name, value in sorted(batch.items()):
        if name.startswith("x"):
            x = x + value
    if len(params) > 1 and not batch.get("weights"):
        x = x * 2
    return x

layer = (jnp.eye(2), jnp.zeros(2))
step([layer, layer], {"x": jnp.ones((1, 2))})
