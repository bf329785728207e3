# source: pyro-ppl/numpyro#2247
# blind: fifth

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Decoder(nn.Module):
    features: int

    @nn.compact
    def __call__(self, z):
        return nn.Dense(self.features)(nn.gelu(nn.Dense(64)(z)))


class Progress:
    def __init__(self, total):
        self.total = total
        self.text = ""

    def set_postfix(self, **values):
        self.text = ", ".join(f"{k}={v}" for k, v in values.items())


def make_step(model, tx):
    def step(params, opt_state, z, x):
        def loss_fn(p):
            return jnp.mean((model.apply(p, z) - x) ** 2)

        loss, grads = jax.value_and_grad(loss_fn)(params)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    return jax.jit(step, donate_argnums=(0, 1))


def fit(z, x, num_steps):
    model, tx = Decoder(x.shape[-1]), optax.adam(1e-3)
    params = model.init(jax.random.key(0), z)
    opt_state = tx.init(params)
    step = make_step(model, tx)
    bar, losses = Progress(num_steps), []
    for _ in range(num_steps):
        params, opt_state, loss = step(params, opt_state, z, x)
        losses.append(jax.device_get(loss))  # finding
        bar.set_postfix(loss=f"{losses[-1]:.4f}")
    return params, np.array(losses)


if __name__ == "__main__":
    print(fit(jnp.ones((8, 4)), jnp.zeros((8, 6)), 3)[1])
