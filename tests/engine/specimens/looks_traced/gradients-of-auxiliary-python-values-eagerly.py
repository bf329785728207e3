# gradients of auxiliary Python values, eagerly
import jax
import jax.numpy as jnp

def loss(params, batch, training):
    value = (params["w"] * batch).sum()
    metrics = {"n": batch.shape[0], "mode": "train" if training else "eval"}
    if metrics["n"] > 1 and metrics["mode"] == "train":
        value = value * 2
    return value, metrics

(value, metrics), grads = jax.value_and_grad(loss, has_aux=True)({"w": jnp.ones(3)}, jnp.ones(3), True)
if value > 0 and metrics["mode"] == "train":
    print(float(value), {k: v.tolist() for k, v in grads.items()})
