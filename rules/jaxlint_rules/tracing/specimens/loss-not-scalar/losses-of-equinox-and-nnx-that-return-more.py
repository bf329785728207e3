# losses of equinox and nnx that return more than the loss
import equinox as eqx
import jax
import jax.numpy as jnp
from flax import nnx


@eqx.filter_value_and_grad
def loss_fn(model, x):
    out = jax.vmap(model)(x)
    return jnp.mean(out**2), out


def step(model, x):
    (loss, out), grads = loss_fn(model, x)  # finding
    return loss, grads


def nnx_loss(model, x):
    out = model(x)
    return [jnp.mean(out**2), out]


def nnx_step(model, x):
    return nnx.grad(nnx_loss)(model, x)  # finding
