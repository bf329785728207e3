# blind: sixteenth
# missed: a dict that two objects change in place

"""Train a generator and keep a moving average of its weights for sampling."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

LATENT, WIDTH, OUT = 16, 64, 32


def init_generator(key):
    k1, k2, k3 = jax.random.split(key, 3)
    return {
        "w1": jax.random.normal(k1, (LATENT, WIDTH)) * 0.1,
        "w2": jax.random.normal(k2, (WIDTH, WIDTH)) * 0.1,
        "w3": jax.random.normal(k3, (WIDTH, OUT)) * 0.1,
    }


def generate(params, z):
    h = jax.nn.leaky_relu(z @ params["w1"])
    h = jax.nn.leaky_relu(h @ params["w2"])
    return h @ params["w3"]


def moment_loss(params, z, real):
    fake = generate(params, z)
    mean_gap = jnp.sum((fake.mean(0) - real.mean(0)) ** 2)
    var_gap = jnp.sum((fake.var(0) - real.var(0)) ** 2)
    return mean_gap + var_gap


optimizer = optax.rmsprop(1e-3)


@jax.jit
def train_step(params, opt_state, z, real):
    loss, grads = jax.value_and_grad(moment_loss)(params, z, real)
    updates, opt_state = optimizer.update(grads, opt_state)
    return updates, opt_state, loss


class Averaged:
    """Moving average of a dict of weights."""

    def __init__(self, params, decay=0.999):
        self.decay = decay
        self.weights = params  # finding-also

    def update(self, params):
        for name in self.weights:
            old = self.weights[name]
            self.weights[name] = self.decay * old + (1.0 - self.decay) * params[name]  # finding


def main(steps=200):
    key = jax.random.PRNGKey(0)
    key, sub = jax.random.split(key)
    params = init_generator(sub)
    ema = Averaged(params, decay=0.99)
    opt_state = optimizer.init(params)
    rng = np.random.default_rng(0)
    for step in range(steps):
        key, sub = jax.random.split(key)
        z = jax.random.normal(sub, (128, LATENT))
        real = rng.normal(2.0, 0.5, (128, OUT)).astype(np.float32)
        updates, opt_state, loss = train_step(params, opt_state, z, real)
        for name in params:
            params[name] = params[name] + updates[name]
        ema.update(params)
    print(loss, ema.weights is params)


if __name__ == "__main__":
    main()
