# source: eserie/wax-ml#45
# blind: eighteenth

import haiku as hk
import jax
import jax.numpy as jnp


def drift_net(x):
    return hk.nets.MLP([16, x.shape[-1]], activation=jax.nn.tanh)(x)


drift = hk.without_apply_rng(hk.transform(drift_net))


def euler_maruyama(params, key, x0, dt, sigma, n_steps):
    def step(x, _):
        noise = jax.random.normal(key, x.shape)  # finding
        x = x + dt * drift.apply(params, x) + sigma * jnp.sqrt(dt) * noise
        return x, x

    _, path = jax.lax.scan(step, x0, None, length=n_steps)  # finding-also
    return path


def simulate(seed, n_particles=5, dim=2):
    k_init, k_x0, k_path = jax.random.split(jax.random.key(seed), 3)
    x0 = jax.random.normal(k_x0, (n_particles, dim))
    params = drift.init(k_init, x0)
    return euler_maruyama(params, k_path, x0, 0.01, 0.5, 40)


if __name__ == "__main__":
    path = simulate(0)
    inc = jnp.diff(path, axis=0)
    print(path.shape, inc[:3, 0])
