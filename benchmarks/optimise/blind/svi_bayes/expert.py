"""Mean-field variational inference for a robust regression, by hand, then Langevin from its mean."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax


def make_data(seed, n=200, d=5):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    w = np.linspace(-1.0, 1.5, d)
    y = x @ w + 0.5 + 0.2 * rng.standard_t(3, size=n)
    return x.astype(np.float32), y.astype(np.float32)


def log_joint(theta, x, y, scale):
    weights, bias, log_sigma = theta["w"], theta["b"], theta["log_sigma"]
    sigma = jnp.exp(log_sigma)
    residual = (y - x @ weights - bias) / sigma
    nu = 4.0
    log_lik = -0.5 * (nu + 1) * jnp.log1p(residual**2 / nu) - jnp.log(sigma)
    log_prior = -0.5 * jnp.sum(weights**2) - 0.5 * bias**2 - 0.5 * (log_sigma + 1.0) ** 2
    return scale * jnp.sum(log_lik) + log_prior


def draw(key, mean, log_std):
    keys = jax.random.split(key, len(mean))
    sample = {}
    for k, name in zip(keys, sorted(mean)):
        noise = jax.random.normal(k, mean[name].shape)
        sample[name] = mean[name] + jnp.exp(log_std[name]) * noise
    return sample


def negative_elbo(variational, key, x, y, scale, samples=4):
    def one(k):
        theta = draw(k, variational["mean"], variational["log_std"])
        return log_joint(theta, x, y, scale)

    total = jnp.sum(jax.vmap(one)(jax.random.split(key, samples)))
    entropy = sum(jnp.sum(s) for s in jax.tree.leaves(variational["log_std"]))
    return -(total / samples + entropy)


def fit(key, x, y, steps=60, batch=50):
    rng = np.random.default_rng(3)
    mean = {"w": jnp.zeros(x.shape[1]), "b": jnp.zeros(()), "log_sigma": jnp.zeros(())}
    variational = {"mean": mean, "log_std": jax.tree.map(lambda v: v - 2.0, mean)}
    optimizer = optax.chain(optax.clip(20.0), optax.adam(0.03))
    state = optimizer.init(variational)
    losses, count = [], len(x)

    @partial(jax.jit, donate_argnums=(0, 1))
    def update(variational, state, key, x, y):
        key, sub = jax.random.split(key)
        loss, grads = jax.value_and_grad(negative_elbo)(variational, sub, x, y, count / batch)
        updates, state = optimizer.update(grads, state, variational)
        return optax.apply_updates(variational, updates), state, key, loss

    for step in range(steps):
        rows = rng.choice(len(x), batch, replace=False)
        variational, state, key, loss = update(variational, state, key, x[rows], y[rows])
        losses.append(loss)
        if (step + 1) % 20 == 0:
            fetched = jax.device_get(losses)
            averaged = fetched[0]
            for value in fetched[1:]:
                averaged = 0.95 * averaged + 0.05 * value
            print(f"svi {step + 1}: elbo {-float(averaged):.1f}")
    return variational


@partial(jax.jit, static_argnames="steps")
def langevin(key, theta, x, y, steps=60, step_size=4e-4):
    def step(carry, _):
        key, theta = carry
        grads = jax.grad(log_joint)(theta, x, y, 1.0)
        key, *keys = jax.random.split(key, 1 + len(theta))
        theta = {
            name: theta[name]
            + step_size * grads[name]
            + jnp.sqrt(2 * step_size) * jax.random.normal(k, theta[name].shape)
            for k, name in zip(keys, sorted(theta))
        }
        return (key, theta), theta

    _, chain = jax.lax.scan(step, (key, theta), None, steps)
    return {name: values[steps // 4 :] for name, values in chain.items()}


def main():
    x, y = make_data(0)
    key = jax.random.PRNGKey(0)
    key, fit_key, chain_key = jax.random.split(key, 3)
    variational = fit(fit_key, x, y)
    print("mean", np.round(np.asarray(variational["mean"]["w"]), 2))
    samples = langevin(chain_key, variational["mean"], x, y)
    print("langevin", np.round(np.asarray(samples["w"].mean(axis=0)), 2))
    print(f"sigma {float(jnp.exp(samples['log_sigma']).mean()):.2f}")


if __name__ == "__main__":
    main()
