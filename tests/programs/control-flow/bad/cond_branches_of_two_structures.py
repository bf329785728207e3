# source: jax-ml/jax#7537
# blind: sixth

"""A learner that updates every fourth step."""
import jax
import jax.numpy as jnp
import optax

opt = optax.adam(1e-2)


def learn(params, opt_state, batch):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((batch @ p) ** 2))(params)
    updates, opt_state = opt.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def skip(params, opt_state, batch):
    return params, opt_state


@jax.jit
def agent_step(step, params, opt_state, batch):
    return jax.lax.cond(step % 4 == 0, learn, skip, params, opt_state, batch)  # finding


def main():
    params = jnp.ones(3)
    opt_state = opt.init(params)
    out = agent_step(0, params, opt_state, jnp.ones((4, 3)))
    print(out[-1])


if __name__ == "__main__":
    main()
