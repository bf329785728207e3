# blind: seventeenth

"""Train an autoencoder with the settings of a torch script."""
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState


class AutoEncoder(nn.Module):
    latent: int
    out: int

    @nn.compact
    def __call__(self, x):
        z = nn.Dense(self.latent)(nn.relu(nn.Dense(64)(x)))
        return nn.Dense(self.out)(nn.relu(nn.Dense(64)(z)))


def create_state(key, config):
    model = AutoEncoder(config["latent"], config["features"])
    params = model.init(key, jnp.ones((1, config["features"])))["params"]
    schedule = optax.cosine_decay_schedule(config["lr"], config["steps"])
    tx = optax.chain(
        optax.clip_by_global_norm(1.0),
        optax.adamw(schedule, beta1=0.9, beta2=0.99, weight_decay=1e-4),  # finding
    )
    return TrainState.create(apply_fn=model.apply, params=params, tx=tx)


@jax.jit
def train_step(state, batch):
    def loss_fn(params):
        recon = state.apply_fn({"params": params}, batch)
        return jnp.mean(jnp.square(recon - batch))

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


if __name__ == "__main__":
    config = {"latent": 8, "features": 20, "lr": 1e-3, "steps": 100}
    state = create_state(jax.random.key(0), config)
    batch = jax.random.normal(jax.random.key(1), (32, 20))
    for _ in range(5):
        state, loss = train_step(state, batch)
    print(loss)
