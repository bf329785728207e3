# source: patrick-kidger/equinox#186
# blind: second

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class Denoiser(eqx.Module):
    layers: list
    scale: jax.Array
    depth: int = eqx.field(static=True)

    def __init__(self, width, *, key):
        first, second = jax.random.split(key)
        self.layers = [eqx.nn.Linear(2, width, key=first), eqx.nn.Linear(width, 2, key=second)]
        self.scale = jnp.ones(())
        self.depth = len(self.layers)

    def __call__(self, x):
        for layer in self.layers[: self.depth - 1]:
            x = jax.nn.silu(layer(x))
        return self.layers[-1](x) * self.scale


@eqx.filter_value_and_grad
def denoising_loss(model, x, sigma, key):
    noisy = x + sigma * jax.random.normal(key, x.shape)
    return jnp.mean((jax.vmap(model)(noisy) - x) ** 2)


@eqx.filter_jit  # finding-other
def make_step(model, opt_state, x, sigma, key, optim):
    loss, grads = denoising_loss(model, x, sigma, key)
    updates, opt_state = optim.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state, loss


def train(epochs=8):
    key = jax.random.key(1)
    key, model_key, data_key = jax.random.split(key, 3)
    model = Denoiser(32, key=model_key)
    optim = optax.adam(1e-3)
    opt_state = optim.init(eqx.filter(model, eqx.is_array))
    x = jax.random.normal(data_key, (64, 2))
    sigmas = jnp.linspace(1.0, 0.05, epochs)
    loss = jnp.inf
    for epoch in range(epochs):
        key, sub = jax.random.split(key)
        model, opt_state, loss = make_step(model, opt_state, x, sigmas[epoch], sub, optim)
    return model, loss


if __name__ == "__main__":
    print(train()[1])
