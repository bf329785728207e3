"""A small GAN of flax nnx on a ring of Gaussians, with an optimiser for each network."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Generator(nnx.Module):
    def __init__(self, latent, width, rngs):
        self.latent = latent
        self.fc1 = nnx.Linear(latent, width, rngs=rngs)
        self.fc2 = nnx.Linear(width, width, rngs=rngs)
        self.out = nnx.Linear(width, 2, rngs=rngs)

    def __call__(self, z):
        h = nnx.relu(self.fc1(z))
        h = nnx.relu(self.fc2(h))
        return self.out(h)


class Discriminator(nnx.Module):
    def __init__(self, width, rngs):
        self.fc1 = nnx.Linear(2, width, rngs=rngs)
        self.fc2 = nnx.Linear(width, width, rngs=rngs)
        self.out = nnx.Linear(width, 1, rngs=rngs)

    def __call__(self, x):
        h = nnx.leaky_relu(self.fc1(x), 0.2)
        h = nnx.leaky_relu(self.fc2(h), 0.2)
        return self.out(h)[:, 0]


def real_batch(rng, size):
    angle = 2 * np.pi * rng.integers(0, 8, size=size) / 8
    centre = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return 2.0 * centre + 0.05 * rng.standard_normal((size, 2))


def bce(logits, target):
    return optax.sigmoid_binary_cross_entropy(logits, target).mean()


def d_loss_fn(disc, real, fake):
    real_loss = bce(disc(real), jnp.full(real.shape[0], 0.9))
    fake_loss = bce(disc(fake), jnp.zeros(fake.shape[0]))
    return real_loss + fake_loss


def g_loss_fn(gen, disc, z):
    logits = disc(gen(z))
    return bce(logits, jnp.ones(z.shape[0]))


class GAN:
    def __init__(self, latent=4, width=48, seed=0):
        rngs = nnx.Rngs(seed)
        self.latent = latent
        self.gen = Generator(latent, width, rngs)
        self.disc = Discriminator(width, rngs)
        self.g_opt = nnx.Optimizer(self.gen, optax.adam(1e-3, b1=0.5), wrt=nnx.Param)
        self.d_opt = nnx.Optimizer(self.disc, optax.adam(1e-3, b1=0.5), wrt=nnx.Param)
        self.key = jax.random.PRNGKey(seed)

    def noise(self, size):
        self.key, sub = jax.random.split(self.key)
        return jax.random.normal(sub, (size, self.latent))

    def step(self, real):
        fake = jax.lax.stop_gradient(self.gen(self.noise(real.shape[0])))
        d_loss, grads = nnx.value_and_grad(d_loss_fn)(self.disc, real, fake)
        self.d_opt.update(self.disc, grads)

        z = self.noise(real.shape[0])
        g_loss, grads = nnx.value_and_grad(g_loss_fn)(self.gen, self.disc, z)
        self.g_opt.update(self.gen, grads)
        return d_loss, g_loss

    def sample(self, size):
        return np.asarray(self.gen(self.noise(size)))


def covered_modes(samples):
    angle = 2 * np.pi * np.arange(8) / 8
    centres = 2.0 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    distance = np.linalg.norm(samples[:, None] - centres[None], axis=-1)
    near = distance.min(axis=1) < 0.8
    return len(set(distance.argmin(axis=1)[near].tolist()))


def main():
    rng = np.random.default_rng(0)
    gan = GAN()
    d_losses, g_losses = [], []
    for step in range(24):
        real = real_batch(rng, 64)
        d_loss, g_loss = gan.step(jnp.asarray(real))
        d_losses.append(float(d_loss))
        g_losses.append(float(g_loss))
        if (step + 1) % 8 == 0:
            print(
                f"step {step + 1}: d {np.mean(d_losses[-8:]):.3f} g {np.mean(g_losses[-8:]):.3f}"
            )
    samples = gan.sample(256)
    print(f"modes {covered_modes(samples)} radius {np.linalg.norm(samples, axis=1).mean():.2f}")


if __name__ == "__main__":
    main()
