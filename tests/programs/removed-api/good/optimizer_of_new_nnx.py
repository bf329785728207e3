# source: JaXRTS/jaxrts#21
# blind: second

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class Vae(nnx.Module):
    def __init__(self, din, latent, *, rngs):
        self.encoder = nnx.Linear(din, 2 * latent, rngs=rngs)
        self.decoder = nnx.Linear(latent, din, rngs=rngs)
        self.rngs = rngs

    def __call__(self, x):
        mean, logvar = jnp.split(self.encoder(x), 2, axis=-1)
        noise = jax.random.normal(self.rngs.noise(), mean.shape)
        z = mean + jnp.exp(0.5 * logvar) * noise
        kl = -0.5 * jnp.mean(1 + logvar - mean**2 - jnp.exp(logvar))
        return self.decoder(z), kl


def loss_fn(model, x):
    recon, kl = model(x)
    return jnp.mean((recon - x) ** 2) + 0.1 * kl


@nnx.jit  # finding-other
def train_step(model, optimizer, metrics, x):
    loss, grads = nnx.value_and_grad(loss_fn)(model, x)
    optimizer.update(model, grads)
    metrics.update(loss=loss)


def main():
    model = Vae(8, 2, rngs=nnx.Rngs(0, noise=1))
    optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
    metrics = nnx.MultiMetric(loss=nnx.metrics.Average("loss"))
    for x in jax.random.normal(jax.random.key(0), (3, 16, 8)):
        train_step(model, optimizer, metrics, x)
    print(metrics.compute())


if __name__ == "__main__":
    main()
