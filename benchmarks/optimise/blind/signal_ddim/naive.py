"""Conditional diffusion of short signals: training in v, sampling by DDIM with guidance."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax

LENGTH, CHANNELS, CLASSES = 32, 24, 4


def conv(x, w, b, stride=1):
    y = jax.lax.conv_general_dilated(x, w, (stride,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))
    return y + b


def init_model(key):
    keys = iter(jax.random.split(key, 20))

    def weight(width, m, n):
        return {"w": jax.random.normal(next(keys), (width, m, n)) / np.sqrt(width * m), "b": jnp.zeros(n)}

    return {
        "time": {"w": jax.random.normal(next(keys), (16, CHANNELS)) * 0.3, "b": jnp.zeros(CHANNELS)},
        "classes": jax.random.normal(next(keys), (CLASSES + 1, CHANNELS)) * 0.3,
        "enter": weight(3, 1, CHANNELS),
        "blocks": [{"first": weight(3, CHANNELS, CHANNELS), "second": weight(3, CHANNELS, CHANNELS)} for _ in range(3)],
        "leave": weight(3, CHANNELS, 1),
    }


def embed_time(t):
    freqs = jnp.exp(jnp.linspace(0.0, 5.0, 8))
    angles = t[:, None] * freqs
    return jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], axis=-1)


def model(params, x, t, label):
    e = embed_time(t) @ params["time"]["w"] + params["time"]["b"]
    e = jax.nn.silu(e + params["classes"][label])[:, None, :]
    h = conv(x[..., None], **params["enter"])
    for block in params["blocks"]:
        r = conv(jax.nn.silu(h), **block["first"]) + e
        h = h + conv(jax.nn.silu(r), **block["second"])
    return conv(jax.nn.silu(h), **params["leave"])[..., 0]


def alpha_sigma(t):
    return jnp.cos(t * jnp.pi / 2), jnp.sin(t * jnp.pi / 2)


def v_loss(params, key, x, label):
    k1, k2, k3 = jax.random.split(key, 3)
    t = jax.random.uniform(k1, (x.shape[0],))
    noise = jax.random.normal(k2, x.shape)
    label = jnp.where(jax.random.bernoulli(k3, 0.1, label.shape), CLASSES, label)
    alpha, sigma = alpha_sigma(t)
    noisy = alpha[:, None] * x + sigma[:, None] * noise
    v = alpha[:, None] * noise - sigma[:, None] * x
    return jnp.mean((model(params, noisy, t, label) - v) ** 2)


@functools.partial(jax.jit, static_argnums=0)
def train_step(tx, params, opt_state, key, x, label):
    loss, grads = jax.value_and_grad(v_loss)(params, key, x, label)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def signals(rng, count):
    label = rng.integers(0, CLASSES, count)
    phase = rng.uniform(0, 2 * np.pi, (count, 1))
    grid = np.linspace(0, 2 * np.pi, LENGTH)[None]
    wave = np.sin((label[:, None] + 1) * grid + phase)
    return np.where(label[:, None] % 2 == 0, wave, np.sign(wave)), label


def ddim(params, key, label, steps, guidance):
    x = jax.random.normal(key, (label.shape[0], LENGTH))
    times = jnp.linspace(1.0, 0.0, steps + 1)
    for i in range(steps):
        t = jnp.full((label.shape[0],), times[i])
        v_cond = model(params, x, t, label)
        v_free = model(params, x, t, jnp.full_like(label, CLASSES))
        v = v_free + guidance * (v_cond - v_free)
        alpha, sigma = alpha_sigma(times[i])
        clean = jnp.clip(alpha * x - sigma * v, -1.5, 1.5)
        noise = sigma * x + alpha * v
        alpha, sigma = alpha_sigma(times[i + 1])
        x = alpha * clean + sigma * noise
    return x


def main():
    rng = np.random.default_rng(0)
    key = jax.random.PRNGKey(0)
    key, sub = jax.random.split(key)
    params = init_model(sub)
    tx = optax.adam(2e-3)
    opt_state = tx.init(params)
    label = jnp.repeat(jnp.arange(CLASSES), 16)
    losses = []
    for step in range(1, 601):
        x, y = signals(rng, 64)
        key, sub = jax.random.split(key)
        params, opt_state, loss = train_step(tx, params, opt_state, sub, x, y)
        losses.append(float(loss))
        if step % 200 == 0:
            key, sub = jax.random.split(key)
            samples = ddim(params, sub, label, 250, 1.5)
            power = np.abs(np.fft.rfft(np.array(samples), axis=1))[:, 1:].reshape(CLASSES, 16, -1).mean(1)
            print(f"step {step}: loss {np.mean(losses[-100:]):.3f} peaks {power.argmax(1) + 1} mean {samples.std():.2f}")


if __name__ == "__main__":
    main()
