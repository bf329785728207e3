# source: goodfire-ai/spd#971
# blind: third

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


def make_step(tx, objective):
    @eqx.filter_jit  # finding
    def step(model, opt_state, batch):  # finding-also
        loss, grads = eqx.filter_value_and_grad(objective)(model, batch)
        updates, opt_state = tx.update(grads, opt_state, eqx.filter(model, eqx.is_array))
        return eqx.apply_updates(model, updates), opt_state, loss

    return step


def reconstruction(model, batch):
    return jnp.mean((jax.vmap(model)(batch) - batch) ** 2)


def pretrain(key, batches):
    model = eqx.nn.MLP(16, 16, 256, 3, key=key)
    tx = optax.adamw(3e-4)
    opt_state = tx.init(eqx.filter(model, eqx.is_array))
    step = make_step(tx, reconstruction)
    for batch in batches:
        model, opt_state, loss = step(model, opt_state, batch)
    return model, loss


if __name__ == "__main__":
    print(pretrain(jax.random.key(0), [jnp.ones((4, 16))] * 3)[1])
