# blind: twenty-first

import jax
import jax.numpy as jnp


def perturb(params, key, sigma, sign):
    eps = jax.random.normal(key, params.shape)
    return params + sign * sigma * eps, eps


def fitness(params, env_key):
    target = jnp.array([1.0, -2.0, 0.5, 3.0])
    shift = 0.3 * jax.random.normal(env_key, target.shape)
    return -jnp.sum((params - target - shift) ** 2)


def pair_gradient(params, noise_key, env_key, sigma):
    plus, eps = perturb(params, noise_key, sigma, 1.0)
    minus, _ = perturb(params, noise_key, sigma, -1.0)
    gain = fitness(plus, env_key) - fitness(minus, env_key)
    return gain * eps / (2.0 * sigma)


@jax.jit
def es_step(params, key, sigma=0.1, lr=0.05):
    noise_keys, env_keys = jnp.split(jax.random.split(key, 128), 2)
    grads = jax.vmap(pair_gradient, in_axes=(None, 0, 0, None))(
        params, noise_keys, env_keys, sigma)
    return params + lr * grads.mean(axis=0)


def evaluate(params, key, episodes=512):
    keys = jax.random.split(key, episodes)
    return jax.vmap(fitness, in_axes=(None, 0))(params, keys).mean()


def main():
    params = jnp.zeros(4)
    key = jax.random.key(0)
    key, eval_key = jax.random.split(key)
    before = evaluate(params, eval_key)
    for _ in range(150):
        key, sub = jax.random.split(key)
        params = es_step(params, sub)
    after = evaluate(params, eval_key)
    print("fitness", float(before), "->", float(after), "params", params)
    assert after > -1.0


if __name__ == "__main__":
    main()
