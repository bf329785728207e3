# source: jax-ml/jax#7989

import jax
import jax.numpy as jnp
import optax

tx = optax.sgd(1e-2)


def residual_stack(params, x):
    for w in params:
        x = x + jnp.tanh(x @ w)
    return x


def loss_fn(params, batch):
    return jnp.mean(residual_stack(params, batch) ** 2)


grad_fn = jax.checkpoint(jax.value_and_grad(loss_fn))  # finding


@jax.jit
def train_step(params, opt_state, batch):
    loss, grads = grad_fn(params, batch)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


if __name__ == "__main__":
    params = [jnp.eye(4) * 0.1] * 3
    print(train_step(params, tx.init(params), jnp.ones((2, 4)))[2])
