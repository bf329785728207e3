# source: google/flax#1010
# blind: sixth

"""Equinox training with bookkeeping in the step."""
import equinox as eqx
import jax
import jax.numpy as jnp
import optax


@eqx.filter_jit
def make_step(model, opt_state, opt, x, y):
    loss, grads = eqx.filter_value_and_grad(lambda m: jnp.mean((jax.vmap(m)(x) - y) ** 2))(model)
    updates, opt_state = opt.update(grads, opt_state)
    model = eqx.apply_updates(model, updates)
    metrics = {"loss": loss.item(), "grad_norm": optax.global_norm(grads)}  # finding
    return model, opt_state, metrics


def main():
    model = eqx.nn.MLP(2, 1, 8, 1, key=jax.random.key(0))
    opt = optax.adam(1e-3)
    opt_state = opt.init(eqx.filter(model, eqx.is_array))
    x = jnp.ones((4, 2))
    for _ in range(3):
        model, opt_state, metrics = make_step(model, opt_state, opt, x, jnp.ones((4, 1)))
        print(metrics)


if __name__ == "__main__":
    main()
