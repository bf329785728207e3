# source: google/flax#2593

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Net(nn.Module):
    rate: float = 0.5

    @nn.compact
    def __call__(self, x, train):
        x = nn.relu(nn.Dense(16)(x))
        x = nn.Dropout(self.rate, deterministic=not train)(x)
        return nn.Dense(1)(x)[..., 0]


def main(x, y, n_steps=5):
    net, tx = Net(), optax.adam(1e-3)
    params_rng, dropout_rng = jax.random.split(jax.random.PRNGKey(0))
    params = net.init(params_rng, x, train=False)
    opt_state = tx.init(params)

    @jax.jit
    def step(params, opt_state, x, y, rng):
        def loss_fn(p):
            pred = net.apply(p, x, train=True, rngs={"dropout": rng})
            return jnp.mean((pred - y) ** 2)

        loss, grads = jax.value_and_grad(loss_fn)(params)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    for _ in range(n_steps):
        params, opt_state, loss = step(params, opt_state, x, y, dropout_rng)  # finding
    return loss


if __name__ == "__main__":
    print(main(jnp.ones((8, 4)), jnp.ones(8)))
