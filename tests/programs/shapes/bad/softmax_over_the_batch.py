# source: jax-ml/jax#2697
# blind: seventeenth

"""Policy gradient with a softmax over actions."""
import jax
import jax.numpy as jnp
import optax

OBS, ACTIONS = 6, 4
optimizer = optax.adam(3e-3)


def init(key):
    k1, k2 = jax.random.split(key)
    return {
        "w1": 0.3 * jax.random.normal(k1, (OBS, 32)),
        "b1": jnp.zeros(32),
        "w2": 0.3 * jax.random.normal(k2, (32, ACTIONS)),
        "b2": jnp.zeros(ACTIONS),
    }


def policy(params, obs):
    h = jnp.tanh(obs @ params["w1"] + params["b1"])
    logits = h @ params["w2"] + params["b2"]
    return jax.nn.softmax(logits, axis=0)  # finding


def loss_fn(params, obs, actions, returns):
    probs = policy(params, obs)
    chosen = probs[jnp.arange(obs.shape[0]), actions]
    return -jnp.mean(jnp.log(chosen + 1e-8) * returns)


@jax.jit
def update(params, opt_state, obs, actions, returns):
    loss, grads = jax.value_and_grad(loss_fn)(params, obs, actions, returns)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    k_init, k_obs, k_act = jax.random.split(jax.random.key(0), 3)
    params = init(k_init)
    opt_state = optimizer.init(params)
    obs = jax.random.normal(k_obs, (128, OBS))
    actions = jax.random.randint(k_act, (128,), 0, ACTIONS)
    returns = (actions == jnp.argmax(obs[:, :ACTIONS], axis=1)).astype(jnp.float32)
    for _ in range(50):
        params, opt_state, loss = update(params, opt_state, obs, actions, returns)
    print("loss", loss, "row sums", policy(params, obs[:5]).sum(axis=1))


if __name__ == "__main__":
    main()
