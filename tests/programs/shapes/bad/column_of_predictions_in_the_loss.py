# blind: eleventh

"""Dense(1) gives [B, 1], the targets are [B]."""
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Forecaster(nn.Module):
    hidden: int = 64

    @nn.compact
    def __call__(self, window):
        h = nn.relu(nn.Dense(self.hidden)(window))
        return nn.Dense(1)(h)


class Windows:
    def __init__(self, series, length):
        self.series = series
        self.length = length

    def arrays(self):
        n = len(self.series) - self.length
        x = np.stack([self.series[i : i + self.length] for i in range(n)])
        y = self.series[self.length :]
        return jnp.asarray(x), jnp.asarray(y)


model = Forecaster()
tx = optax.adam(1e-3)


def huber(pred, target):
    return optax.huber_loss(pred, target).mean()  # finding


@jax.jit
def step(params, opt_state, x, y):
    def loss_fn(p):
        return huber(model.apply(p, x), y)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


if __name__ == "__main__":
    x, y = Windows(np.sin(np.linspace(0, 10, 100, dtype=np.float32)), 12).arrays()
    params = model.init(jax.random.key(0), x)
    print(step(params, tx.init(params), x, y)[2])
