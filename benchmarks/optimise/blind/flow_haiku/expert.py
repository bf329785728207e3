"""A RealNVP of haiku on two spirals: maximum likelihood, then samples from the inverse."""

from functools import partial

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Coupling(hk.Module):
    def __init__(self, flip, width=32, name=None):
        super().__init__(name=name)
        self.flip = flip
        self.net = hk.nets.MLP([width, width, 2], activation=jnp.tanh)

    def split(self, x):
        a, b = x[:, :1], x[:, 1:]
        return (b, a) if self.flip else (a, b)

    def join(self, a, b):
        return jnp.concatenate([b, a] if self.flip else [a, b], axis=1)

    def forward(self, x):
        a, b = self.split(x)
        shift, log_scale = jnp.split(self.net(a), 2, axis=1)
        log_scale = jnp.tanh(log_scale)
        return self.join(a, b * jnp.exp(log_scale) + shift), log_scale[:, 0]

    def inverse(self, y):
        a, b = self.split(y)
        shift, log_scale = jnp.split(self.net(a), 2, axis=1)
        log_scale = jnp.tanh(log_scale)
        return self.join(a, (b - shift) * jnp.exp(-log_scale))


class RealNVP(hk.Module):
    def __init__(self, layers=5, name=None):
        super().__init__(name=name)
        self.layers = [Coupling(i % 2 == 1) for i in range(layers)]

    def log_prob(self, x):
        log_det = jnp.zeros(x.shape[0])
        for layer in self.layers:
            x, change = layer.forward(x)
            log_det = log_det + change
        base = -0.5 * jnp.sum(x**2, axis=1) - jnp.log(2 * jnp.pi)
        return base + log_det

    def sample(self, z):
        for layer in reversed(self.layers):
            z = layer.inverse(z)
        return z


def spirals(rng, size):
    t = 3.0 * np.sqrt(rng.uniform(size=size))
    sign = np.where(rng.uniform(size=size) < 0.5, 1.0, -1.0)
    points = np.stack([t * np.cos(2 * t), t * np.sin(2 * t)], axis=1) * sign[:, None]
    return np.float32(points / 2.0 + 0.05 * rng.normal(size=(size, 2)))


log_prob = hk.without_apply_rng(hk.transform(lambda x: RealNVP(name="flow").log_prob(x)))
sampler = hk.without_apply_rng(hk.transform(lambda z: RealNVP(name="flow").sample(z)))


def loss_fn(params, x):
    return -jnp.mean(log_prob.apply(params, x))


def train(params, rng, steps, batch_size):
    optimizer = optax.chain(optax.clip_by_global_norm(5.0), optax.adam(3e-3))
    opt_state = optimizer.init(params)
    ema = jax.tree.map(jnp.copy, params)
    losses = []

    @partial(jax.jit, donate_argnums=(0, 1, 2))
    def update(params, opt_state, ema, x):
        loss, grads = jax.value_and_grad(loss_fn)(params, x)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        params = optax.apply_updates(params, updates)
        ema = jax.tree.map(lambda e, p: 0.98 * e + 0.02 * p, ema, params)
        return params, opt_state, ema, loss, optax.global_norm(grads)

    for step in range(1, steps + 1):
        batch = spirals(rng, batch_size)
        params, opt_state, ema, loss, norm = update(params, opt_state, ema, batch)
        losses.append(loss)
        if step % 50 == 0:
            recent = np.mean(jax.device_get(losses[-50:]))
            print(f"step {step}: nll {recent:.3f} grad norm {norm:.2f}")
    return ema


def held_out(params, rng, batches):
    data = np.stack([spirals(rng, 128) for _ in range(batches)])
    return float(jnp.mean(jax.jit(log_prob.apply)(params, data.reshape(-1, 2))))


def main():
    rng = np.random.default_rng(0)
    params = jax.jit(log_prob.init)(jax.random.PRNGKey(0), spirals(rng, 8))
    params = train(params, rng, 100, 128)
    print(f"held out: {held_out(params, rng, 10):.3f}")
    z = jax.random.normal(jax.random.PRNGKey(1), (500, 2))
    samples = jax.jit(sampler.apply)(params, z)
    print("spread", np.round(np.asarray(samples.std(axis=0)), 2))


if __name__ == "__main__":
    main()
