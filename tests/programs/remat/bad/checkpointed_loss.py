# source: jax-ml/jax#19822
# blind: seventh

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


def loss_fn(model, x, y):
    predicted = jax.vmap(model)(x)
    return jnp.mean((predicted - y) ** 2)


optimizer = optax.adam(1e-3)
checkpointed_loss = eqx.filter_checkpoint(loss_fn)  # finding


@eqx.filter_jit(donate="all-except-first")
def step(batch, model, opt_state):
    x, y = batch
    loss, grads = eqx.filter_value_and_grad(checkpointed_loss)(model, x, y)  # finding-also
    updates, opt_state = optimizer.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state, loss


def main():
    model = eqx.nn.MLP(16, 1, 256, 8, key=jax.random.key(0))
    opt_state = optimizer.init(eqx.filter(model, eqx.is_array))
    x = jnp.ones((128, 16))
    for _ in range(3):
        model, opt_state, loss = step((x, jnp.ones((128, 1))), model, opt_state)
    print(loss)


if __name__ == "__main__":
    main()
