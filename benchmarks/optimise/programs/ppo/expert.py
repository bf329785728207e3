"""The same as naive.py, as JaxMARL and PureJaxRL do it: the rollout and the advantages are scans, all of it jitted.

After https://github.com/FLAIROx/JaxMARL, baselines/IPPO/ippo_ff_mpe.py (`_env_step`, `_calculate_gae`, `_update_epoch`).
"""

import argparse
import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax

ENVIRONMENTS = 32
optimizer = optax.adam(3e-3)


def init_params(key):
    params = []
    for layer_key, (n, m) in zip(jax.random.split(key, 3), [(4, 64), (64, 64), (64, 3)]):
        params.append({"w": jax.random.normal(layer_key, (n, m)) / np.sqrt(n), "b": jnp.zeros(m)})
    return params


def network(params, obs):
    for layer in params[:-1]:
        obs = jnp.tanh(obs @ layer["w"] + layer["b"])
    out = obs @ params[-1]["w"] + params[-1]["b"]
    return out[..., :2], out[..., 2]


@jax.jit
def policy(params, key, obs):
    logits, value = network(params, obs)
    action = jax.random.categorical(key, logits)
    log_prob = jnp.take_along_axis(jax.nn.log_softmax(logits), action[:, None], axis=-1)[:, 0]
    return action, log_prob, value


@jax.jit
def env_step(state, action):
    x, v, angle, spin = jnp.moveaxis(state, -1, 0)
    force = jnp.where(action == 1, 10.0, -10.0)
    push = (force + 0.05 * spin**2 * jnp.sin(angle)) / 1.1
    turn = (9.8 * jnp.sin(angle) - jnp.cos(angle) * push) / (0.5 * (4 / 3 - 0.1 * jnp.cos(angle) ** 2 / 1.1))
    shift = push - 0.05 * turn * jnp.cos(angle) / 1.1
    new = jnp.stack([x + 0.02 * v, v + 0.02 * shift, angle + 0.02 * spin, spin + 0.02 * turn], axis=-1)
    done = (jnp.abs(new[:, 0]) > 2.4) | (jnp.abs(new[:, 2]) > 0.21)
    return jnp.where(done[:, None], 0.0, new), 1.0 - done, done


@functools.partial(jax.jit, static_argnames="length")
def rollout(params, key, state, length):
    def step(carry, _):
        key, state = carry
        key, step_key = jax.random.split(key)
        action, log_prob, value = policy(params, step_key, state)
        new, reward, done = env_step(state, action)
        return (key, new), (state, action, log_prob, value, reward, done)

    (key, state), batch = jax.lax.scan(step, (key, state), length=length)
    return state, batch


@jax.jit
def advantages(values, rewards, dones, last_value):
    def step(carry, transition):
        advantage, next_value = carry
        value, reward, done = transition
        alive = 1.0 - done
        delta = reward + 0.99 * next_value * alive - value
        advantage = delta + 0.99 * 0.95 * alive * advantage
        return (advantage, value), advantage

    start = (jnp.zeros_like(last_value), last_value)
    return jax.lax.scan(step, start, (values, rewards, dones), reverse=True)[1]


def loss_fn(params, obs, actions, old_log_probs, advantage, returns):
    logits, value = network(params, obs)
    log_prob = jnp.take_along_axis(jax.nn.log_softmax(logits), actions[..., None], axis=-1)[..., 0]
    ratio = jnp.exp(log_prob - old_log_probs)
    clipped = jnp.clip(ratio, 0.8, 1.2)
    return -jnp.mean(jnp.minimum(ratio * advantage, clipped * advantage)) + 0.5 * jnp.mean(
        (value - returns) ** 2
    )


@functools.partial(jax.jit, donate_argnums=(0, 1))
def update(params, opt_state, *batch):
    def epoch(carry, _):
        params, opt_state = carry
        grads = jax.grad(loss_fn)(params, *batch)
        updates, opt_state = optimizer.update(grads, opt_state)
        return (optax.apply_updates(params, updates), opt_state), None

    return jax.lax.scan(epoch, (params, opt_state), length=4)[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--length", type=int, default=128)
    args = parser.parse_args()

    key, params_key, state_key = jax.random.split(jax.random.PRNGKey(0), 3)
    params = init_params(params_key)
    opt_state = optimizer.init(params)
    state = 0.05 * jax.random.normal(state_key, (ENVIRONMENTS, 4))
    for step in range(args.steps):
        key, rollout_key = jax.random.split(key)
        state, (obs, actions, log_probs, values, rewards, dones) = rollout(
            params, rollout_key, state, args.length
        )
        _, last_value = network(params, state)
        advantage = advantages(values, rewards, dones, last_value)
        params, opt_state = update(params, opt_state, obs, actions, log_probs, advantage, advantage + values)
        print(f"step {step} mean value {float(values.mean()):.4f} episodes {int(dones.sum())}")


if __name__ == "__main__":
    main()
