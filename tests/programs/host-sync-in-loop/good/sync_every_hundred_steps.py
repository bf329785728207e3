# source: p-doom/jasmine#158
# blind: first

import jax
import jax.numpy as jnp


@jax.jit  # finding-other
def train_step(params, x):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((x @ p) ** 2))(params)
    return params - 1e-2 * grads, loss


def train(params, loader, log_every=100):
    for step, x in enumerate(loader):
        params, loss = train_step(params, x)
        if step % log_every == 0:
            print(f"{step}: {float(loss):.4f}")
    return params


if __name__ == "__main__":
    print(train(jnp.ones(2), [jnp.ones((4, 2))] * 300))
