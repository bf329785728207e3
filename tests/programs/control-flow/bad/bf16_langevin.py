# source: jax-ml/jax#833
# blind: nineteenth

import functools

import jax
import jax.numpy as jnp


def init_score_net(key, dim, hidden):
    k1, k2, k3 = jax.random.split(key, 3)
    cast = lambda a: a.astype(jnp.bfloat16)
    return {
        "w1": cast(jax.random.normal(k1, (dim + 1, hidden)) * 0.5),
        "w2": cast(jax.random.normal(k2, (hidden, hidden)) * hidden ** -0.5),
        "w3": cast(jax.random.normal(k3, (hidden, dim)) * hidden ** -0.5),
    }


def score(params, x, sigma):
    level = jnp.full(x.shape[:-1] + (1,), jnp.log(sigma), x.dtype)
    h = jax.nn.silu(jnp.concatenate([x, level], axis=-1) @ params["w1"])
    h = jax.nn.silu(h @ params["w2"])
    return h @ params["w3"] - x


def geometric_sigmas(start, stop, n):
    return jnp.exp(jnp.linspace(jnp.log(start), jnp.log(stop), n))


@functools.partial(jax.jit, static_argnames=("levels", "dim", "n"))
def annealed_langevin(params, key, levels, dim, n):
    sigmas = geometric_sigmas(5.0, 0.1, levels)  # finding-also
    k_init, k_steps = jax.random.split(key)
    x0 = 5.0 * jax.random.normal(k_init, (n, dim), dtype=jnp.bfloat16)  # finding-also

    def step(x, inputs):
        sigma, k = inputs
        noise = jax.random.normal(k, x.shape, dtype=x.dtype)
        eps = 0.1 * sigma ** 2 / sigmas[-1] ** 2 * 1e-3  # finding-also
        x = x + eps * score(params, x, sigma) + jnp.sqrt(2.0 * eps) * noise  # finding
        return x, jnp.mean(jnp.abs(x))

    return jax.lax.scan(step, x0, (sigmas, jax.random.split(k_steps, levels)))  # finding-also


def main():
    k_net, k_run = jax.random.split(jax.random.key(0))
    params = init_score_net(k_net, 8, 64)
    samples, trace = annealed_langevin(params, k_run, 60, 8, 256)
    print("samples", samples.dtype, samples.shape, "final scale", float(trace[-1]))


if __name__ == "__main__":
    main()
