"""Recover the parameters of a predator-prey system from noisy observations."""
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


def solve(y0, theta, dt, n_steps, save_every):
    ys = []
    y = y0
    for i in range(n_steps):
        y = rk4_step(y, theta, dt)
        if (i + 1) % save_every == 0:
            ys.append(y)
    return jnp.stack(ys)


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

    grad_fn = jax.jit(jax.value_and_grad(loss_fn), static_argnums=(3, 4, 5))
    optimizer = optax.adam(optax.exponential_decay(0.05, 30, 0.7))

    best_loss, best_theta = np.inf, None
    for restart in range(2):
        key = jax.random.PRNGKey(restart)
        theta = 0.2 * jax.random.normal(key, (4,)) - 0.2
        opt_state = optimizer.init(theta)
        for it in range(60):
            loss, grads = grad_fn(theta, y0, observed, dt, n_steps, save_every)
            updates, opt_state = optimizer.update(grads, opt_state)
            theta = optax.apply_updates(theta, updates)
            if loss < best_loss:
                best_loss, best_theta = float(loss), theta
            if (it + 1) % 20 == 0:
                print(f"restart {restart} iter {it + 1} loss {loss:.4f}")

    names = ["alpha", "beta", "delta", "gamma"]
    for name, value, truth in zip(names, jnp.exp(best_theta), jnp.exp(true_theta)):
        print(f"{name:6s} {value:.2f} (true {truth:.2f})")
    forecast = solve(y0, best_theta, dt, n_steps, save_every)
    print(f"rmse {jnp.sqrt(jnp.mean((forecast - clean) ** 2)):.3f}")


if __name__ == "__main__":
    main()
