# blind: seventeenth

"""Gibbs sampler for a normal with unknown mean and precision."""
import jax
import jax.numpy as jnp


def draw_mean(key, y, tau, mu0=0.0, tau0=0.1):
    precision = tau0 + y.size * tau
    loc = (tau0 * mu0 + tau * y.sum()) / precision
    return loc + jax.random.normal(key) / jnp.sqrt(precision)


def draw_precision(key, y, mu, a0=1.0, b0=1.0):
    a = a0 + 0.5 * y.size
    b = b0 + 0.5 * jnp.sum((y - mu) ** 2)
    return jax.random.gamma(key, a) / b


def gibbs(key, y, sweeps):
    def sweep(carry, _):
        key, mu, tau = carry
        key, *subs = jax.random.split(key, 3)
        mu = draw_mean(subs[0], y, tau)
        tau = draw_precision(subs[1], y, mu)
        return (key, mu, tau), (mu, tau)

    init = (key, jnp.mean(y), jnp.array(1.0))
    _, (mus, taus) = jax.lax.scan(sweep, init, None, length=sweeps)
    return mus, taus


def main():
    k_data, k_chain = jax.random.split(jax.random.key(7))
    y = 2.0 + 0.5 * jax.random.normal(k_data, (40,))
    mus, taus = jax.jit(gibbs, static_argnums=2)(k_chain, y, 2000)
    print("mean", mus[500:].mean(), "precision", taus[500:].mean())


if __name__ == "__main__":
    main()
