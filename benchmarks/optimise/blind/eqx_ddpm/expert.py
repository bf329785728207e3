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


class Denoiser(eqx.Module):
    layers: list
    out: eqx.nn.Linear

    def __init__(self, key, width=64):
        k1, k2, k3, k4 = jr.split(key, 4)
        self.layers = [eqx.nn.Linear(2 + 8, width, key=k1), eqx.nn.Linear(width, width, key=k2), eqx.nn.Linear(width, width, key=k3)]
        self.out = eqx.nn.Linear(width, 2, key=k4)

    def __call__(self, x, t):
        phase = 2.0 ** jnp.arange(4) * (t / STEPS_T)
        h = jnp.concatenate([x, jnp.stack([jnp.sin(phase), jnp.cos(phase)], axis=1).ravel()])
        for layer in self.layers:
            h = jax.nn.silu(layer(h))
        return self.out(h)


BETAS = np.linspace(1e-3, 0.2, STEPS_T)
ALPHAS = 1 - BETAS
ALPHA_BAR = jnp.array(np.cumprod(ALPHAS), dtype=jnp.float32)


def corrupt(x, t, noise):
    ab = ALPHA_BAR[t]
    return jnp.sqrt(ab) * x + jnp.sqrt(1 - ab) * noise


def loss_fn(model, x, t, noise):
    pred = jax.vmap(model)(jax.vmap(corrupt)(x, t, noise), t)
    return jnp.mean((pred - noise) ** 2)


def sample(model, key):
    key, k = jr.split(key)
    scale = np.where(np.arange(STEPS_T) > 0, np.sqrt(BETAS), 0.0)
    drift = BETAS / np.sqrt(1 - np.cumprod(ALPHAS))
    tables = [jnp.array(v, jnp.float32) for v in (drift, np.sqrt(ALPHAS), scale)]

    def step(carry, inputs):
        x, key = carry
        t, drift, shrink, scale = inputs
        key, k = jr.split(key)
        x = (x - drift * model(x, t)) / shrink + scale * jr.normal(k, (2,))
        return (x, key), None

    (x, _), _ = jax.lax.scan(step, (jr.normal(k, (2,)), key), (jnp.arange(STEPS_T), *tables), reverse=True)
    return x


def energy_distance(a, b):
    def mean_distance(p, q):
        return jnp.mean(jnp.sqrt(jnp.sum((p[:, None] - q[None]) ** 2, axis=-1) + 1e-12))

    return 2 * mean_distance(a, b) - mean_distance(a, a) - mean_distance(b, b)


optim = optax.adam(optax.exponential_decay(4e-3, 100, 0.7))


@eqx.filter_jit
def train(model, key, data):
    arrays, static = eqx.partition(model, eqx.is_array)

    def step(carry, _):
        arrays, opt_state, key = carry
        key, k_idx, k_t, k_noise = jr.split(key, 4)
        batch = data[jr.randint(k_idx, (BATCH,), 0, N_DATA)]
        t = jr.randint(k_t, (BATCH,), 0, STEPS_T)
        noise = jr.normal(k_noise, (BATCH, 2))
        loss, grads = jax.value_and_grad(lambda a: loss_fn(eqx.combine(a, static), batch, t, noise))(arrays)
        updates, opt_state = optim.update(grads, opt_state, arrays)
        return (eqx.apply_updates(arrays, updates), opt_state, key), loss

    (arrays, _, _), losses = jax.lax.scan(step, (arrays, optim.init(arrays), key), None, length=ITERS)
    return eqx.combine(arrays, static), losses.reshape(-1, 125).mean(1)


@eqx.filter_jit
def evaluate(model, test):
    def test_loss(t):
        noise = jr.normal(jr.PRNGKey(t), test.shape)[:60]
        return loss_fn(model, test[:60], jnp.full(60, t), noise)

    samples = jax.vmap(lambda k: sample(model, k))(jr.split(jr.PRNGKey(9), N_SAMPLES))
    losses = jax.vmap(test_loss)(jnp.array([2, 10, 30]))
    return losses, samples.mean(0), samples.std(0), energy_distance(samples, test)


key, model_key = jr.split(jr.PRNGKey(5))
model, losses = train(Denoiser(model_key), key, two_moons(N_DATA, seed=0))
for i, loss in enumerate(np.asarray(losses)):
    print(f"iteration {125 * (i + 1)}: loss {loss:.3g}")

test_losses, mean, sd, distance = jax.device_get(evaluate(model, two_moons(200, seed=1)))
for t, loss in zip([2, 10, 30], test_losses):
    print(f"test loss at t = {t}: {loss:.3g}")
print("mean", ", ".join(f"{v:.3g}" for v in mean), "sd", ", ".join(f"{v:.3g}" for v in sd))
print(f"energy distance to the test points {distance:.3g}")
