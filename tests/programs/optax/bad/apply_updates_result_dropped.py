# blind: eighteenth

import functools

import jax
import jax.numpy as jnp
import optax


def log_joint(params, x, y):
    w, log_noise = params["w"], params["log_noise"]
    resid = y - x @ w
    lik = -0.5 * jnp.sum(resid**2) * jnp.exp(-2 * log_noise) - y.shape[0] * log_noise
    prior = -0.5 * jnp.sum(w**2) - 0.5 * log_noise**2
    return lik + prior


def make_map_fitter(lr=5e-2):
    tx = optax.chain(optax.clip_by_global_norm(10.0), optax.adam(lr))

    @jax.jit
    def step(params, opt_state, x, y):
        value, grads = jax.value_and_grad(lambda p: -log_joint(p, x, y))(params)
        updates, opt_state = tx.update(grads, opt_state, params)
        optax.apply_updates(params, updates)  # finding
        return params, opt_state, value  # finding-also

    def fit(params, x, y, n_steps):
        opt_state = tx.init(params)

        def body(carry, _):
            params, opt_state = carry
            params, opt_state, value = step(params, opt_state, x, y)
            return (params, opt_state), value

        (params, _), values = jax.lax.scan(body, (params, opt_state), None, length=n_steps)
        return params, values

    return fit


if __name__ == "__main__":
    xs = jax.random.normal(jax.random.key(0), (50, 2))
    ys = xs @ jnp.array([1.0, -1.0])
    init = {"w": jnp.zeros(2), "log_noise": jnp.zeros(())}
    params, values = make_map_fitter()(init, xs, ys, 30)
    print(params["w"], values[0], values[-1])
