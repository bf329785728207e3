# blind: twelfth

import jax
import jax.numpy as jnp
import optax


def critic(params, x):
    return jnp.tanh(x @ params["w"]) @ params["v"]


def td_loss(params, target, batch):
    value = critic(params, batch["obs"])
    bootstrap = batch["reward"] + 0.99 * jax.lax.stop_gradient(critic(target, batch["next"]))
    return jnp.mean((value - bootstrap) ** 2)


def actor_loss(params, critic_params, obs):
    action = jnp.tanh(obs @ params["pi"])
    frozen = jax.lax.stop_gradient(critic_params)
    return -jnp.mean(critic(frozen, action))


def make_step(loss, tx):
    def step(params, state, *args):
        value, grads = jax.value_and_grad(loss)(params, *args)
        updates, state = tx.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value

    return jax.jit(step, donate_argnums=(0, 1))


critic_step = make_step(td_loss, optax.adam(1e-3))
actor_step = make_step(actor_loss, optax.adam(1e-4))
