# a loss and its metrics, without has_aux
import jax
import jax.numpy as jnp


def loss_fn(params, x, y):
    pred = x @ params["w"]
    loss = jnp.mean((pred - y) ** 2)
    return loss, {"mae": jnp.abs(pred - y).mean()}


@jax.jit
def step(params, x, y):
    (loss, metrics), grads = jax.value_and_grad(loss_fn)(params, x, y)  # finding
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), metrics


gradient = jax.grad(lambda params, x: {"loss": jnp.sum(params["w"] * x)})


def main():
    params = {"w": jnp.zeros(3)}
    step(params, jnp.ones((4, 3)), jnp.ones(4))
    gradient(params, jnp.ones(3))  # finding
