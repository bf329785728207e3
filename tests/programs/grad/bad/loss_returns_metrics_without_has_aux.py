# source: jax-ml/jax#6213
# blind: eighteenth

import functools

import haiku as hk
import jax
import jax.numpy as jnp
import optax


def policy_fn(obs):
    torso = hk.nets.MLP([32, 32], activate_final=True)
    h = torso(obs)
    return hk.Linear(4)(h), hk.Linear(1)(h)[..., 0]


net = hk.without_apply_rng(hk.transform(policy_fn))
tx = optax.adam(3e-4)


def a2c_loss(params, obs, actions, returns):
    logits, values = net.apply(params, obs)
    adv = returns - values
    logp = jax.nn.log_softmax(logits)
    chosen = jnp.take_along_axis(logp, actions[:, None], axis=1)[:, 0]
    pg = -(jax.lax.stop_gradient(adv) * chosen).mean()
    vf = 0.5 * (adv**2).mean()
    ent = -(jnp.exp(logp) * logp).sum(-1).mean()
    return pg + 0.5 * vf - 0.01 * ent, {"pg": pg, "vf": vf, "entropy": ent}  # finding-also


@functools.partial(jax.jit, donate_argnums=(0, 1))
def update(params, opt_state, obs, actions, returns):
    (loss, metrics), grads = jax.value_and_grad(a2c_loss)(params, obs, actions, returns)  # finding
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, {"loss": loss, **metrics}


def main():
    obs = jnp.ones((8, 6))
    params = net.init(jax.random.key(0), obs)
    opt_state = tx.init(params)
    actions = jnp.arange(8) % 4
    params, opt_state, metrics = update(params, opt_state, obs, actions, jnp.ones(8))
    print(metrics)


if __name__ == "__main__":
    main()
