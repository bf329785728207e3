"""A denoising diffusion model on the two moons."""
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn

T = 50
BATCH = 128


def two_moons(n, seed=0):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, np.pi, size=n)
    upper = rng.integers(0, 2, size=n).astype(bool)
    x = np.where(upper, np.cos(angle), 1 - np.cos(angle))
    y = np.where(upper, np.sin(angle), 0.5 - np.sin(angle))
    pts = np.stack([x, y], axis=1) + 0.05 * rng.normal(size=(n, 2))
    return (pts - pts.mean(0)) / pts.std(0)


class Schedule:
    def __init__(self, steps, beta_min=1e-4, beta_max=0.12):
        self.betas = np.linspace(beta_min, beta_max, steps)
        self.alphas = 1.0 - self.betas
        self.alpha_bars = np.cumprod(self.alphas)


class ScoreNet(nn.Module):
    width: int = 96

    @nn.compact
    def __call__(self, x, t):
        freqs = 2.0 ** jnp.arange(6)
        angles = t[:, None] * freqs[None, :]
        emb = jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], axis=-1)
        h = jnp.concatenate([x, emb], axis=-1)
        for _ in range(2):
            h = nn.swish(nn.Dense(self.width)(h))
        return nn.Dense(2)(h)


class Diffusion:
    def __init__(self, lr=2e-3, seed=0):
        self.schedule = Schedule(T)
        self.net = ScoreNet()
        self.key = jax.random.PRNGKey(seed)
        self.params = self.net.init(self.next_key(), jnp.zeros((1, 2)), jnp.zeros((1,)))
        self.ema = self.params
        self.tx = optax.adam(lr)
        self.opt_state = self.tx.init(self.params)

    def next_key(self):
        self.key, sub = jax.random.split(self.key)
        return sub

    def loss(self, params, x0, t, noise):
        ab = jnp.asarray(self.schedule.alpha_bars)[t][:, None]
        xt = jnp.sqrt(ab) * x0 + jnp.sqrt(1 - ab) * noise
        pred = self.net.apply(params, xt, t / T)
        return jnp.mean((pred - noise) ** 2)

    def train_step(self, x0):
        t = jax.random.randint(self.next_key(), (len(x0),), 0, T)
        noise = jax.random.normal(self.next_key(), x0.shape)
        loss, grads = jax.value_and_grad(self.loss)(self.params, x0, t, noise)
        updates, self.opt_state = self.tx.update(grads, self.opt_state)
        self.params = optax.apply_updates(self.params, updates)
        self.ema = jax.tree.map(lambda e, p: 0.98 * e + 0.02 * p, self.ema, self.params)
        return float(loss)

    def sample(self, n):
        s = self.schedule
        x = jax.random.normal(self.next_key(), (n, 2))
        for t in reversed(range(T)):
            eps = self.net.apply(self.ema, x, jnp.full((n,), t / T))
            coef = s.betas[t] / np.sqrt(1 - s.alpha_bars[t])
            x = (x - coef * eps) / np.sqrt(s.alphas[t])
            if t > 0:
                x = x + np.sqrt(s.betas[t]) * jax.random.normal(self.next_key(), x.shape)
        return x


def main(steps=40):
    data = two_moons(4096)
    model = Diffusion()
    rng = np.random.default_rng(1)
    losses = []
    for step in range(1, steps + 1):
        batch = data[rng.integers(0, len(data), size=BATCH)]
        losses.append(model.train_step(jnp.array(batch)))
        if step % 10 == 0:
            print(f"step {step} loss {np.mean(losses[-10:]):.3f}")
    for round_ in range(2):
        samples = np.asarray(model.sample(256))
        print(f"samples {round_} mean {samples.mean(0).round(2)} std {samples.std(0).round(2)}")


if __name__ == "__main__":
    main()
