# source: jax-ml/jax#1426
# blind: nineteenth

import jax
import jax.numpy as jnp
import optax

STATES, ACTIONS, GAMMA = 12, 2, 0.9


def chain_transitions(key, n):
    k_s, k_a = jax.random.split(key)
    s = jax.random.randint(k_s, (n,), 0, STATES)
    a = jax.random.randint(k_a, (n,), 0, ACTIONS)
    nxt = jnp.clip(s + 2 * a - 1, 0, STATES - 1)
    reward = (nxt == STATES - 1).astype(jnp.float32)
    return s, a, reward, nxt


def q_values(params, s):
    return params["table"][s] + params["bias"]


def train(key, sync_every, steps):
    params = {"table": jnp.zeros((STATES, ACTIONS)), "bias": jnp.zeros(ACTIONS)}
    target_params = params
    tx = optax.sgd(0.5)
    opt_state = tx.init(params)

    @jax.jit
    def update(params, opt_state, batch):
        s, a, reward, nxt = batch
        bootstrap = reward + GAMMA * q_values(target_params, nxt).max(axis=-1)  # finding

        def loss_fn(p):
            q = jnp.take_along_axis(q_values(p, s), a[:, None], axis=1)[:, 0]
            return jnp.mean((q - bootstrap) ** 2)

        loss, grads = jax.value_and_grad(loss_fn)(params)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    for step in range(steps):
        key, sub = jax.random.split(key)
        params, opt_state, loss = update(params, opt_state, chain_transitions(sub, 256))
        if step % sync_every == 0:
            target_params = params  # finding-also
    return params, loss


def exact_values():
    q = jnp.zeros((STATES, ACTIONS))
    s = jnp.arange(STATES)[:, None]
    nxt = jnp.clip(s + 2 * jnp.arange(ACTIONS)[None] - 1, 0, STATES - 1)
    for _ in range(300):
        q = (nxt == STATES - 1) + GAMMA * q.max(axis=1)[nxt]
    return q


def main():
    params, loss = train(jax.random.key(0), 20, 1000)
    learned = q_values(params, jnp.arange(STATES))
    print("loss", float(loss), "max error of Q", float(jnp.abs(learned - exact_values()).max()))


if __name__ == "__main__":
    main()
