# blind: fourteenth
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState


class Critic(nn.Module):
    hidden: int = 32

    @nn.compact
    def __call__(self, obs, action):
        x = jnp.concatenate([obs, action], axis=-1)
        x = nn.relu(nn.Dense(self.hidden)(x))
        x = nn.relu(nn.Dense(self.hidden)(x))
        return nn.Dense(1)(x)


@jax.jit  # finding-other
def update_critic(state, batch, gamma=0.99):
    next_q = state.apply_fn({"params": state.params}, batch["next_obs"], batch["next_action"])
    bootstrap = jnp.min(next_q, axis=-1)
    targets = batch["reward"] + gamma * (1.0 - batch["done"]) * bootstrap
    targets = jax.lax.stop_gradient(targets)

    def loss_fn(params):
        q = state.apply_fn({"params": params}, batch["obs"], batch["action"])
        td_error = q - targets  # finding
        return jnp.mean(optax.huber_loss(td_error)), jnp.abs(td_error).mean()

    (loss, td), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    return state.apply_gradients(grads=grads), {"loss": loss, "td": td}


def fake_batch(key, size=16):
    k = jax.random.split(key, 5)
    return {
        "obs": jax.random.normal(k[0], (size, 6)),
        "action": jax.random.normal(k[1], (size, 2)),
        "next_obs": jax.random.normal(k[2], (size, 6)),
        "next_action": jax.random.normal(k[3], (size, 2)),
        "reward": jax.random.normal(k[4], (size,)),
        "done": jnp.zeros((size,)),
    }


def main():
    key, init_key = jax.random.split(jax.random.key(0))
    critic = Critic()
    params = critic.init(init_key, jnp.zeros((1, 6)), jnp.zeros((1, 2)))["params"]
    state = TrainState.create(apply_fn=critic.apply, params=params, tx=optax.adam(3e-4))
    for _ in range(4):
        key, sub = jax.random.split(key)
        state, metrics = update_critic(state, fake_batch(sub))
    print(f"loss {metrics['loss']:.3f}")


if __name__ == "__main__":
    main()
