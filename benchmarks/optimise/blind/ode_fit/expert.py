"""Recover the parameters of a predator-prey system from noisy observations."""
import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax


def vector_field(y, theta):
    alpha, beta, delta, gamma = jnp.exp(theta)
    prey, predator = y
    return jnp.array([
        alpha * prey - beta * prey * predator,
        delta * prey * predator - gamma * predator,
    ])


def rk4_step(y, theta, dt):
    k1 = vector_field(y, theta)
    k2 = vector_field(y + 0.5 * dt * k1, theta)
    k3 = vector_field(y + 0.5 * dt * k2, theta)
    k4 = vector_field(y + dt * k3, theta)
    return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


@functools.partial(jax.jit, static_argnums=(2, 3, 4))
def solve(y0, theta, dt, n_steps, save_every):
    def inner(_, y):
        return rk4_step(y, theta, dt)

    def outer(y, _):
        y = jax.lax.fori_loop(0, save_every, inner, y)
        return y, y

    return jax.lax.scan(outer, y0, length=n_steps // save_every)[1]


def loss_fn(theta, y0, observed, dt, n_steps, save_every):
    pred = solve(y0, theta, dt, n_steps, save_every)
    return jnp.mean((jnp.log(pred) - jnp.log(observed)) ** 2)


def main():
    dt, n_steps, save_every = 0.5, 10, 1
    y0 = jnp.array([1.0, 0.6])
    true_theta = jnp.log(jnp.array([1.1, 0.9, 0.6, 0.8]))
    clean = solve(y0, true_theta, dt, n_steps, save_every)
    noise = np.random.default_rng(0).normal(size=clean.shape)
    observed = clean * jnp.exp(0.05 * noise)

    optimizer = optax.adam(optax.exponential_decay(0.05, 30, 0.7))

    def step(carry, _):
        theta, opt_state, best_loss, best_theta = carry
        loss, grads = jax.value_and_grad(loss_fn)(
            theta, y0, observed, dt, n_steps, save_every)
        updates, opt_state = optimizer.update(grads, opt_state)
        theta = optax.apply_updates(theta, updates)
        better = loss < best_loss
        best_theta = jnp.where(better, theta, best_theta)
        return (theta, opt_state, jnp.minimum(loss, best_loss), best_theta), loss

    @jax.jit
    def fit(key):
        theta = 0.2 * jax.random.normal(key, (4,)) - 0.2
        carry = (theta, optimizer.init(theta), jnp.float32(jnp.inf), theta)
        (_, _, best_loss, best_theta), losses = jax.lax.scan(step, carry, length=60)
        return best_loss, best_theta, losses

    best_loss, best_theta = np.inf, None
    for restart in range(2):
        loss, theta, losses = jax.device_get(fit(jax.random.PRNGKey(restart)))
        for it in (20, 40, 60):
            print(f"restart {restart} iter {it} loss {losses[it - 1]:.4f}")
        if loss < best_loss:
            best_loss, best_theta = loss, theta

    names = ["alpha", "beta", "delta", "gamma"]
    for name, value, truth in zip(names, np.exp(best_theta), np.exp(np.asarray(true_theta))):
        print(f"{name:6s} {value:.2f} (true {truth:.2f})")
    forecast = solve(y0, best_theta, dt, n_steps, save_every)
    print(f"rmse {jnp.sqrt(jnp.mean((forecast - clean) ** 2)):.3f}")


if __name__ == "__main__":
    main()
