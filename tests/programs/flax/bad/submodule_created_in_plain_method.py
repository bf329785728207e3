# blind: eighteenth

import flax.linen as nn
import jax
import jax.numpy as jnp


class Autoencoder(nn.Module):
    latent: int = 4
    width: int = 32

    def setup(self):
        self.enc1 = nn.Dense(self.width)
        self.enc2 = nn.Dense(self.latent)
        self.dec1 = nn.Dense(self.width)

    def encode(self, x):
        return self.enc2(nn.relu(self.enc1(x)))

    def decode(self, z, d_out):
        h = nn.relu(self.dec1(z))
        return nn.Dense(d_out)(h)  # finding

    def __call__(self, x):
        return self.decode(self.encode(x), x.shape[-1])


def reconstruction_loss(params, model, x):
    recon = model.apply({"params": params}, x)
    return jnp.mean((recon - x) ** 2)


def interpolate(params, model, a, b, n=5):
    za = model.apply({"params": params}, a, method=Autoencoder.encode)
    zb = model.apply({"params": params}, b, method="encode")
    t = jnp.linspace(0.0, 1.0, n)[:, None]
    return (1 - t) * za + t * zb


def main():
    model = Autoencoder()
    x = jnp.ones((8, 10))
    params = model.init(jax.random.key(0), x)["params"]
    print(reconstruction_loss(params, model, x))
    print(interpolate(params, model, x[:1], x[1:2]).shape)


if __name__ == "__main__":
    main()
