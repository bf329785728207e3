"""A Hamiltonian neural network of a double well: fitted to trajectories, rolled out with RK4."""

import jax
import jax.numpy as jnp
import numpy as np
import optax


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        (jax.random.normal(k, (m, n)) / np.sqrt(m), jnp.zeros(n)) for k, m, n in zip(keys, sizes[:-1], sizes[1:])
    ]


def hamiltonian(params, z):
    for w, b in params[:-1]:
        z = jnp.tanh(z @ w + b)
    w, b = params[-1]
    return (z @ w + b)[0]


def field(params, z):
    dh = jax.grad(hamiltonian, argnums=1)(params, z)
    return jnp.concatenate([dh[1:], -dh[:1]])


def true_field(z):
    q, p = z[..., 0], z[..., 1]
    return jnp.stack([p, q - q**3], axis=-1)


def rk4(f, z, dt):
    k1 = f(z)
    k2 = f(z + 0.5 * dt * k1)
    k3 = f(z + 0.5 * dt * k2)
    k4 = f(z + dt * k3)
    return z + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def integrate(f, z0, dt, steps):
    zs = [z0]
    for _ in range(steps):
        zs.append(rk4(f, zs[-1], dt))
    return jnp.stack(zs)


def trajectory_loss(params, z0, target, dt):
    predict = jax.vmap(lambda z: integrate(lambda s: field(params, s), z, dt, target.shape[0] - 1), out_axes=1)
    return jnp.mean((predict(z0) - target) ** 2)


def make_data(key, count, dt, steps):
    z0 = jax.random.uniform(key, (count, 2), minval=-1.5, maxval=1.5)
    return integrate(true_field, z0, dt, steps)


def train(params, data, dt, epochs, size, window, seed):
    optimizer = optax.adam(optax.cosine_decay_schedule(5e-3, epochs * 16))
    opt_state = optimizer.init(params)
    rng = np.random.default_rng(seed)
    for epoch in range(epochs):
        losses = []
        for _ in range(16):
            start = rng.integers(0, data.shape[0] - window)
            rows = rng.choice(data.shape[1], size, replace=False)
            target = data[start : start + window, rows]
            loss, grads = jax.value_and_grad(trajectory_loss)(params, target[0], target, dt)
            updates, opt_state = optimizer.update(grads, opt_state, params)
            params = optax.apply_updates(params, updates)
            losses.append(loss)
        print(f"epoch {epoch}: loss {np.mean([float(l) for l in losses]):.2e}")
    return params


def drift(params, z0, dt, steps):
    z = z0
    start = hamiltonian(params, z0)
    worst = 0.0
    for _ in range(steps):
        z = rk4(lambda s: field(params, s), z, dt)
        worst = max(worst, abs(float(hamiltonian(params, z) - start)))
    return z, worst


def main():
    key, data_key, init_key = jax.random.split(jax.random.PRNGKey(5), 3)
    dt = 0.05
    data = make_data(data_key, 48, dt, 60)
    params = init_mlp(init_key, [2, 48, 48, 1])
    params = train(params, data, dt, 4, 16, 4, seed=0)
    z, worst = drift(params, jnp.array([1.0, 0.5]), dt, 100)
    print(f"ends at {z[0]:.2f} {z[1]:.2f}, energy drifts by {worst:.3f}")


if __name__ == "__main__":
    main()
