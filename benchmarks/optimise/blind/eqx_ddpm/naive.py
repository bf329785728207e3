# A small denoising diffusion model of points in the plane, in equinox.
import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax

STEPS_T = 40
BATCH = 128
ITERS = 500
N_DATA = 2000
N_SAMPLES = 30


def two_moons(n, seed):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, np.pi, size=n)
    which = rng.integers(0, 2, size=n)
    px = np.where(which == 0, np.cos(angle), 1 - np.cos(angle))
    py = np.where(which == 0, np.sin(angle), 0.5 - np.sin(angle))
    points = np.stack([px - 0.5, py - 0.25], axis=1) + 0.05 * rng.normal(size=(n, 2))
    return jnp.array(points, dtype=jnp.float32)


class TimeEmbedding(eqx.Module):
    freqs: list

    def __init__(self, n):
        self.freqs = [2.0**i for i in range(n)]

    def __call__(self, t):
        feats = []
        for f in self.freqs:
            feats.append(jnp.sin(f * t))
            feats.append(jnp.cos(f * t))
        return jnp.stack(feats)


class Denoiser(eqx.Module):
    embed: TimeEmbedding
    layers: list
    out: eqx.nn.Linear

    def __init__(self, key, width=64):
        k1, k2, k3, k4 = jr.split(key, 4)
        self.embed = TimeEmbedding(4)
        self.layers = [eqx.nn.Linear(2 + 8, width, key=k1), eqx.nn.Linear(width, width, key=k2), eqx.nn.Linear(width, width, key=k3)]
        self.out = eqx.nn.Linear(width, 2, key=k4)

    def __call__(self, x, t):
        h = jnp.concatenate([x, self.embed(t / STEPS_T)])
        for layer in self.layers:
            h = jax.nn.silu(layer(h))
        return self.out(h)


class Diffusion:
    def __init__(self):
        self.betas = np.linspace(1e-3, 0.2, STEPS_T)
        self.alphas = 1 - self.betas
        self.alpha_bar = jnp.array(np.cumprod(self.alphas), dtype=jnp.float32)

    def corrupt(self, x, t, noise):
        ab = self.alpha_bar[t]
        return jnp.sqrt(ab) * x + jnp.sqrt(1 - ab) * noise

    def loss(self, model, x, t, noise):
        noisy = jax.vmap(self.corrupt)(x, t, noise)
        pred = jax.vmap(model)(noisy, t)
        return jnp.mean((pred - noise) ** 2)

    def sample(self, model, key):
        key, k = jr.split(key)
        x = jr.normal(k, (2,))
        for t in reversed(range(STEPS_T)):
            key, k = jr.split(key)
            eps = model(x, t)
            x = (x - self.betas[t] / jnp.sqrt(1 - self.alpha_bar[t]) * eps) / np.sqrt(self.alphas[t])
            if t > 0:
                x = x + np.sqrt(self.betas[t]) * jr.normal(k, (2,))
        return x


def energy_distance(a, b):
    def mean_distance(p, q):
        total = 0.0
        for point in p:
            total += jnp.mean(jnp.sqrt(jnp.sum((q - point) ** 2, axis=-1) + 1e-12))
        return total / len(p)

    return float(2 * mean_distance(a, b) - mean_distance(a, a) - mean_distance(b, b))


diffusion = Diffusion()
optim = optax.adam(optax.exponential_decay(4e-3, 100, 0.7))


@eqx.filter_jit
def make_step(model, opt_state, x, t, noise):
    loss, grads = eqx.filter_value_and_grad(diffusion.loss)(model, x, t, noise)
    updates, opt_state = optim.update(grads, opt_state, model)
    return eqx.apply_updates(model, updates), opt_state, loss


key = jr.PRNGKey(5)
key, model_key = jr.split(key)
model = Denoiser(model_key)
opt_state = optim.init(eqx.filter(model, eqx.is_array))
data = two_moons(N_DATA, seed=0)

running = 0.0
for it in range(ITERS):
    key, k_idx, k_t, k_noise = jr.split(key, 4)
    batch = data[jr.randint(k_idx, (BATCH,), 0, N_DATA)]
    t = jr.randint(k_t, (BATCH,), 0, STEPS_T)
    noise = jr.normal(k_noise, (BATCH, 2))
    model, opt_state, loss = make_step(model, opt_state, batch, t, noise)
    running += loss.item()
    if (it + 1) % 125 == 0:
        print(f"iteration {it + 1}: loss {running / 125:.3g}")
        running = 0.0

test = two_moons(200, seed=1)
for t in [2, 10, 30]:
    noise = jr.normal(jr.PRNGKey(t), test.shape)
    losses = [jnp.mean((model(diffusion.corrupt(p, t, n), t) - n) ** 2) for p, n in zip(test[:60], noise)]
    print(f"test loss at t = {t}: {float(sum(losses)) / len(losses):.3g}")

samples = jnp.stack([diffusion.sample(model, k) for k in jr.split(jr.PRNGKey(9), N_SAMPLES)])
print("mean", ", ".join(f"{float(v):.3g}" for v in samples.mean(0)), "sd", ", ".join(f"{float(v):.3g}" for v in samples.std(0)))
print(f"energy distance to the test points {energy_distance(samples, test):.3g}")
